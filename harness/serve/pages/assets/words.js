/* The words of the reader's language, and numbers as they are written in it. */

const settings = JSON.parse(document.getElementById("settings").textContent);

export const lang = settings.lang;

/** The text of `key`, with `{name}` replaced by values; a key that nobody knows is shown as it stands. */
export function t(key, values = {}) {
  const text = Object.hasOwn(settings.words, key) ? settings.words[key] : key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}

/** The text of `key` where it is one, else `fallback`: for names that may be anybody's. */
export function known(key, fallback) {
  return Object.hasOwn(settings.words, key) ? settings.words[key] : fallback;
}

const whole = new Intl.NumberFormat(lang);
const tenths = new Intl.NumberFormat(lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const dollars = new Intl.NumberFormat(lang, { style: "currency", currency: "USD", maximumSignificantDigits: 3 });

const moments = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });

export const moment = (ms) => moments.format(ms);
export const count = (number) => whole.format(number);
export const seconds = (ms) => (ms < 1000 ? `${whole.format(Math.round(ms))} ms` : `${tenths.format(ms / 1000)} s`);
export const money = (usd) => (usd === null || usd === undefined ? "–" : dollars.format(usd));
