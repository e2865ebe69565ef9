/* Elements and text. Whatever a stranger wrote comes into the page through `visible`, as text. */
const STEERING = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]" +
    "|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]",
  "g",
);
const MARKS = /([\p{Mn}\p{Me}\p{Cf}]{8})([\p{Mn}\p{Me}\p{Cf}]+)/gu;
const HIDDEN = /\u{1f3f4}[\u{e0020}-\u{e007e}]{2,6}\u{e007f}|[\u{e0000}-\u{e007f}]/gu;
const PLAIN = /^[\n\x20-\x7e]*$/;
const FIRST_CHARACTERS = 1500;
const numbers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
const cleanHtml = window.trustedTypes
  ? window.trustedTypes.createPolicy("safe-html", { createHTML: (html) => html })
  : { createHTML: (html) => html };

/**
 * Write out what would steer a reader: control characters, marks of reading direction, half characters, hidden tags, and
 * marks beyond eight on one character. `harness.reports.screen.neutralise` does the same.
 */
function visible(text) {
  const whole = String(text);
  if (PLAIN.test(whole)) return whole;
  return whole
    .replace(STEERING, writtenOut)
    .replace(HIDDEN, (found) => (found.length > 2 ? found : writtenOut(found)))
    .replace(MARKS, (_, few, more) => few + [...more].map(writtenOut).join(""));
}

function writtenOut(char) {
  const code = char.codePointAt(0);
  const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${letter}${code.toString(16).padStart(digits, "0")}`;
}

function byId(id) {
  return document.getElementById(id);
}

/**
 * Make an element. Attributes are set by name; `on` holds listeners; undefined, null and false leave one out.
 * Strings among the children become text. Addresses must lead into this page.
 */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (name === "href" && !String(value).startsWith("#/")) {
      throw new Error("a link must lead into this page");
    } else {
      made.setAttribute(name, value === true ? "" : visible(value));
    }
  }
  return fill(made, ...children);
}

function fill(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    element.append(child instanceof Node ? child : visible(child));
  }
  return element;
}

/** A box with HTML that `safe_html` of the report's writer made; nothing else may come here. */
function answerBox(html) {
  const box = el("div", { class: "told answer", dir: "auto", role: "group", "aria-label": "Answer", tabindex: "0" });
  box.innerHTML = cleanHtml.createHTML(html);
  return box;
}

/** A text that stands in a line, folded where it is long. */
function shortText(text, limit = 400) {
  return longText(text ?? "", { kind: "span", limit });
}

function shortCode(text) {
  return longText(text, { kind: "code", limit: 400 });
}

/** A text of any length: its beginning, and a button with its size where there is more. */
function longText(text, { kind = "pre", limit = FIRST_CHARACTERS } = {}) {
  const whole = String(text);
  const box = el(kind, { class: "told", dir: "auto" });
  if (whole.length <= limit * 1.2) return fill(box, whole);
  const rest = el("button", {
    type: "button",
    class: "small fold",
    on: {
      click: () => {
        box.replaceChildren();
        fill(box, whole);
      },
    },
  }, `… show all ${numbers.format(whole.length)} characters`);
  return fill(box, whole.slice(0, limit), rest);
}

function json(value) {
  return longText(JSON.stringify(value, null, 2), { limit: 2 * FIRST_CHARACTERS });
}

function mark(verdict, known) {
  const word = known ? "known" : verdict;
  return el("span", { class: `mark ${word}` }, word.replaceAll("_", " "));
}

function answered(provenance) {
  return el("span", { class: `provenance ${provenance}` }, provenance);
}

function figure(value) {
  return numbers.format(value);
}

/** Tell a screen reader something that the eye sees anyway. */
function say(text) {
  byId("said").textContent = text;
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
    return true;
  } catch {
    say(`${what} could not be copied`);
    window.prompt("Copy it from here:", text);
    return false;
  }
}

function copyButton(text, what, label = "copy") {
  const button = el("button", { type: "button", class: "small no-print", "aria-label": `Copy ${what}` }, label);
  button.addEventListener("click", async () => {
    if (await copy(typeof text === "function" ? text() : text, what)) flash(button);
  });
  return button;
}

function flash(button) {
  const label = button.textContent;
  button.textContent = "copied";
  setTimeout(() => (button.textContent = label), 1200);
}
