/* What every page does: the language changes as soon as it is chosen. */

const language = document.querySelector("form.language");
language.querySelector("button").hidden = true;
language.querySelector("select").addEventListener("change", () => language.requestSubmit());
