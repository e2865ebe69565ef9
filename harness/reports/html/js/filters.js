/* Search and filters over trials: kept in the address, so that a filtered list is a link too. */
const FIELDS = ["q", "verdict", "design", "set", "provenance", "contract", "order"];
const ORDERS = [
  ["", "red first"],
  ["run", "as they ran"],
  ["tokens", "most tokens"],
  ["calls", "most calls"],
  ["time", "slowest recording"],
];
const GRAVITY = { could_not_check: 0, broken: 1, kept: 3 };
const WEIGHTS = {
  "": (trial) => -gravity(trial),
  run: () => 0,
  tokens: (trial) => trial.input + trial.output,
  calls: (trial) => trial.llm_calls + trial.tool_calls,
  time: (trial) => trial.recorded_ms,
};
const VERDICTS = [
  ["", "any verdict"],
  ["red", "red: broken or not checked"],
  ["kept", "kept"],
  ["broken", "broken"],
  ["known", "known failure"],
  ["could_not_check", "not checked"],
];
const haystacks = new Map();

function filtersOf(query) {
  return Object.fromEntries(FIELDS.map((name) => [name, query.get(name) ?? ""]));
}

/** 0 for what could not be checked, 3 for what was kept. */
function gravity(trial) {
  return trial.known ? 2 : GRAVITY[trial.verdict];
}

function matching(filters) {
  const words = filters.q.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const found = trials.filter(
    (trial) =>
      hasVerdict(trial, filters.verdict) &&
      (!filters.design || designName(trial) === filters.design) &&
      (!filters.set || trial.set === filters.set) &&
      (!filters.provenance || trial.provenance === filters.provenance) &&
      (!filters.contract || trial.broken.includes(filters.contract)) &&
      words.every((word) => haystack(trial).includes(word)),
  );
  const weight = WEIGHTS[filters.order] ?? WEIGHTS.run;
  return found.sort((one, other) => weight(other) - weight(one) || one.number - other.number);
}

function hasVerdict(trial, verdict) {
  if (!verdict) return true;
  if (verdict === "known") return trial.known;
  if (verdict === "red") return trial.verdict !== "kept" && !trial.known;
  return trial.verdict === verdict && !trial.known;
}

function haystack(trial) {
  if (!haystacks.has(trial.number)) {
    const parts = [trial.set, trial.case, trial.agent, trial.model, trial.question, trial.because, trial.fault, ...trial.broken];
    haystacks.set(trial.number, parts.join("\n").toLocaleLowerCase());
  }
  return haystacks.get(trial.number);
}

/** A row of controls that tell `changed` what is asked for, and keep it in the address. */
function filterBar(part, changed, { ordered = false } = {}) {
  const filters = filtersOf(current.query);
  if (!ordered) filters.order = "run";
  const found = el("output", { class: "found note" });
  const distinct = (values) => [...new Set(values)].sort();
  const apply = () => {
    const query = new URLSearchParams(Object.entries(filters).filter(([name, value]) => value && (ordered || name !== "order")));
    replaceHash(`#/${part}${String(query) && `?${query}`}`);
    const rows = matching(filters);
    found.textContent = `${figure(rows.length)} of ${figure(trials.length)} trials`;
    changed(rows);
  };
  const chooser = (name, label, options) => choice(`${part}-${name}`, label, options, filters[name], (value) => {
    filters[name] = value;
    apply();
  });
  const search = el("input", {
    type: "search", id: `${part}-q`, class: "search", placeholder: "case, question, reason …  ( / )", autocomplete: "off", spellcheck: "false",
  });
  search.value = filters.q;
  let waiting;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      filters.q = search.value;
      apply();
    }, 120);
  });
  const every = (name) => ["", ...name].map((value) => [value, value || "any"]);
  const bar = el("div", { class: "filters no-print", role: "search", "aria-label": "Filter trials" },
    el("div", { class: "field grows" }, el("label", { for: `${part}-q` }, "search"), search),
    chooser("verdict", "verdict", VERDICTS),
    chooser("design", "design", every(distinct(index.designs.map(designName)))),
    chooser("set", "set", every(distinct(index.cases.map((asked) => asked.set)))),
    chooser("provenance", "answered by", every(distinct(index.designs.map((design) => design.provenance)))),
    ordered && chooser("order", "order", ORDERS),
    filters.contract && el("button", { type: "button", class: "small", on: { click: (event) => {
      filters.contract = "";
      event.currentTarget.remove();
      apply();
    } } }, `broke ${filters.contract} ×`),
    found,
  );
  return { bar, apply };
}

function choice(id, label, options, chosen, changed) {
  const select = el("select", { id }, options.map(([value, told]) => el("option", { value }, told)));
  select.value = chosen;
  select.addEventListener("change", () => changed(select.value));
  return el("div", { class: "field" }, el("label", { for: id }, label), select);
}
