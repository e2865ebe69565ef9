/* The options of a design as fields, and what of them differs from the default. */

import { el, line } from "./dom.js";

export class Options {
  constructor(section, box) {
    this.section = section;
    this.box = box;
    this.fields = [];
  }

  /** Show a field for each of `options`: name → {default, help}. */
  show(options) {
    this.fields = Object.entries(options).map(([name, { default: usual, help }]) => ({ name, usual, help, input: field(name, usual) }));
    this.section.hidden = this.fields.length === 0;
    this.box.replaceChildren(...this.fields.map(labelled));
  }

  /** What the reader changed, by name. */
  values() {
    const changed = {};
    for (const { name, usual, input } of this.fields) {
      const value = read(input, usual);
      if (value !== undefined && value !== usual) changed[name] = value;
    }
    return changed;
  }
}

function field(name, usual) {
  const id = `option-${name}`;
  if (typeof usual === "boolean") return el("input", { type: "checkbox", id, checked: usual });
  if (typeof usual === "number") return el("input", { type: "number", id, value: usual, step: Number.isInteger(usual) ? 1 : "any" });
  if (usual === null || typeof usual === "string") return el("input", { type: "text", id, value: usual ?? "", maxlength: 200 });
  return el("input", { type: "text", id, value: JSON.stringify(usual), "data-json": true });
}

function labelled({ name, help, input }) {
  const note = help ? el("p", { class: "note", id: `${input.id}-help` }, line(help, 200)) : null;
  if (note) input.setAttribute("aria-describedby", note.id);
  const label = el("label", { for: input.id }, line(name));
  return el("div", { class: "field" }, ...(input.type === "checkbox" ? [el("span", {}, input, " ", label)] : [label, input]), note);
}

/** The value of a field in the kind of its default; undefined where it is empty or no such value. */
function read(input, usual) {
  if (input.type === "checkbox") return input.checked;
  if (input.type === "number") return input.value === "" ? undefined : Number(input.value);
  if (!input.dataset.json) return input.value === "" && usual === null ? null : input.value;
  try {
    const value = JSON.parse(input.value);
    return JSON.stringify(value) === JSON.stringify(usual) ? usual : value;
  } catch {
    return undefined;
  }
}
