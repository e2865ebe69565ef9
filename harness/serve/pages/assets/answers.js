/* An answer as the server rendered it: the only HTML that a script of ours puts into a page. */

import { ask } from "./ndjson.js";

const policy = globalThis.trustedTypes?.createPolicy("rendered-answers", { createHTML: (html) => html }) ?? { createHTML: (html) => html };

/** Show Markdown in `box`: as plain text at once, and rendered when the server has made it safe. */
export async function showAnswer(box, markdown, plain) {
  box.replaceChildren(plain);
  try {
    const { html } = await (await ask("/api/render", { body: { text: markdown } })).json();
    box.innerHTML = policy.createHTML(html);
  } catch {
    // the plain text stays
  }
}
