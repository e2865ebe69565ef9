/* Asking the server: answers line by line, and refusals as errors that a person can read. */

/** What the server refused, with its code and what to do about it. */
export class Refused extends Error {
  constructor(code, message, hint) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** Send `body` as JSON, or read where there is none; the response, if it is no refusal. */
export async function ask(path, { body, signal, headers = {}, method } = {}) {
  const sent = body === undefined ? { headers } : { headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  const response = await fetch(path, { method: method ?? (body === undefined ? "GET" : "POST"), signal, ...sent });
  if (response.ok) return response;
  if (response.status === 401) {
    location.assign("/sign-in?next=" + encodeURIComponent(location.pathname));
  }
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch {
    // not ours: a proxy's, perhaps
  }
  throw new Refused(error.code ?? "", error.message ?? `HTTP ${response.status}`, error.hint ?? "");
}

/** The objects of an NDJSON answer, each as soon as its line has come. */
export async function* lines(response) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let over = false;
  try {
    while (!over) {
      const { value, done } = await reader.read();
      over = done;
      const whole = (rest + decoder.decode(value, { stream: !done })).split("\n");
      rest = done ? "" : whole.pop();
      for (const each of whole) {
        if (each.trim()) yield JSON.parse(each);
      }
    }
  } finally {
    if (!over) await reader.cancel().catch(() => {});
  }
}
