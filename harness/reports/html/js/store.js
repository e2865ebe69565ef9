/* What the file holds: the index, read at once, and chunks, unpacked when something in them is asked for. */
const index = JSON.parse(byId("index").textContent);
const MOST_CHUNKS = 12;
const unpacked = new Map();

const trials = index.trials.map((row, number) => {
  const trial = Object.fromEntries(index.columns.map((name, place) => [name, row[place]]));
  const design = index.designs[trial.design];
  const asked = index.cases[trial.case];
  return Object.assign(trial, {
    number,
    ...design,
    set: asked.set,
    case: asked.case,
    question: asked.question,
    lang: asked.lang,
    at: asked.at,
    known: Boolean(trial.known),
    broken: trial.broken.map((place) => index.contracts[place]),
    asked: trial.case,
  });
});
const trialsByLink = new Map(trials.map((trial) => [caseLink(trial), trial]));

/** The address of a trial inside of this page; `report.summary.case_link` makes the same one. */
function caseLink(trial, step, leg = 0) {
  const parts = [trial.set, trial.case, trial.agent, trial.model, String(trial.trial)];
  const link = `#/case/${parts.map(segment).join("/")}`;
  return step === undefined ? link : `${link}/step/${leg ? `${leg}.` : ""}${step}`;
}

/** Percent-encode as Python's `quote(safe="")` does: all but letters, digits and `_.-~`. */
function segment(text) {
  const whole = String(text).replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "?");
  return encodeURIComponent(whole).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function designName(design) {
  return `${design.agent} × ${design.model}`;
}

/** One item of a chunk; throws an error with a text for people where it cannot be unpacked. */
async function unpack(chunk, place) {
  if (!unpacked.has(chunk)) {
    unpacked.set(chunk, inflate(chunk));
    if (unpacked.size > MOST_CHUNKS) unpacked.delete(unpacked.keys().next().value);
  }
  try {
    return (await unpacked.get(chunk))[place];
  } catch (error) {
    unpacked.delete(chunk);
    throw error;
  }
}

async function inflate(chunk) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "This browser cannot unpack the traces in this file: it has no DecompressionStream. " +
        "Chrome and Edge from 80, Firefox from 113 and Safari from 16.4 have it. " +
        "The verdict, the matrix, the arena and the contracts do not need it.",
    );
  }
  const holder = await whole(`chunk-${chunk}`);
  try {
    const packed = Uint8Array.from(atob(holder.textContent), (char) => char.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return await new Response(stream).json();
  } catch {
    throw new Error(`Part ${chunk} of the traces in this file is damaged. Write the report again: harness report ${index.run} --format html`);
  }
}

/** The element with this id, once the browser has read all of it. */
async function whole(id) {
  if (!byId(id)?.nextElementSibling && document.readyState === "loading") {
    await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  }
  const found = byId(id);
  if (!found) throw new Error("This file ends too early: a part of its traces is missing. Copy or download it again.");
  return found;
}
