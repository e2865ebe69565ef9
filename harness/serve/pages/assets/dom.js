/* Elements made of text alone: nothing that a model wrote is ever read as HTML here. */

const LONGEST = 4000;
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udc7f]/g;

/** An element with attributes (never handlers, never styles) and children, which are nodes or texts. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

export const byId = (id) => document.getElementById(id);

const STACKED = /(?<=\p{M}{8})\p{M}/gu;

/** `text` with the characters written out that steer a terminal, turn the reading direction, or pile up on another. */
export function visible(text) {
  return String(text).replace(/\r\n/g, "\n").replace(STEERING, writtenOut).replace(STACKED, writtenOut);
}

function writtenOut(char) {
  const code = char.codePointAt(0);
  return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

/** A stranger's text, in a box that it cannot leave; what is very long is cut until somebody asks for the rest. */
export function told(text, { more = "…", tag = "div", kind = "" } = {}) {
  const whole = visible(text);
  const box = el(tag, { class: `told as-text ${kind}`.trim(), dir: "auto" });
  if (whole.length <= LONGEST) {
    box.textContent = whole;
    return box;
  }
  const rest = el("button", { type: "button" }, more);
  rest.addEventListener("click", () => {
    box.textContent = whole;
    box.tabIndex = -1;
    box.focus();
  });
  box.append(whole.slice(0, LONGEST), "… ", rest);
  return box;
}

/** One line of `text`, cut to `most` characters. */
export function line(text, most = 160) {
  const flat = visible(text).replace(/\s+/g, " ").trim();
  const characters = [...flat];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : flat;
}
