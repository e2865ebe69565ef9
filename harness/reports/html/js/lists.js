/* The matrix, the list of trials, and the recordings. */
let listed = matching(filtersOf(new URLSearchParams()));

const firstTitle = document.title;

routes.verdict = () => {
  document.title = firstTitle;
};
routes.arena = () => setTitle("Arena");
routes.contracts = () => setTitle("Contract coverage");

routes.cases = (panel, route) => {
  if (route.name === "case") {
    showCase(panel, route);
    return;
  }
  setTitle("Cases");
  const widths = { verdict: 9, case: 14, set: 9, design: 18, "answered by": 8, why: 20 };
  const columns = Object.entries(widths).map(([title, width]) => ({ title, width }));
  columns.push(...["calls", "tools", "tokens", "ms"].map((title) => ({ title, right: true, width: 5 })));
  const table = rowTable("Trials", columns, trialRow);
  const { bar, apply } = filterBar("cases", (rows) => {
    listed = rows;
    table.show(rows);
  }, { ordered: true });
  panel.replaceChildren(el("h1", { tabindex: "-1" }, "Cases"), bar, table.box);
  apply();
};

function trialRow(trial) {
  const why = trial.broken.length ? `${trial.broken.join(", ")}: ${trial.because}` : trial.because;
  const number = trial.trial ? ` · ${trial.trial}` : "";
  return el("tr", {},
    el("td", {}, mark(trial.verdict, trial.known)),
    el("th", { scope: "row" }, el("a", { href: caseLink(trial), title: trial.question || undefined }, `${trial.case}${number}`)),
    el("td", {}, trial.set),
    el("td", {}, designName(trial)),
    el("td", {}, answered(trial.provenance)),
    el("td", { class: "why", title: why || undefined }, why),
    [trial.llm_calls, trial.tool_calls, trial.input + trial.output, trial.recorded_ms].map((value) =>
      el("td", { class: "to-right" }, figure(value)),
    ),
  );
}

routes.matrix = (panel) => {
  setTitle("Matrix");
  const holder = el("div");
  const { bar, apply } = filterBar("matrix", (rows) => {
    listed = rows;
    holder.replaceChildren(...matrixOf(rows));
  });
  const legend = el("p", { class: "note" }, "Case × design. Trials kept of all trials; a cell leads to its worst trial.");
  panel.replaceChildren(el("h1", { tabindex: "-1" }, "Matrix"), legend, bar, holder);
  apply();
};

function matrixOf(rows) {
  const places = [...new Set(rows.map((trial) => trial.design))].sort((a, b) => a - b);
  const lines = new Map();
  for (const trial of rows) {
    if (!lines.has(trial.asked)) lines.set(trial.asked, new Map());
    const cells = lines.get(trial.asked);
    if (!cells.has(trial.design)) cells.set(trial.design, []);
    cells.get(trial.design).push(trial);
  }
  const columns = [{ title: "case", width: 26 }, ...places.map((place) => ({ title: designHead(index.designs[place]), width: 12 }))];
  const table = rowTable("Matrix of cases and designs", columns, ([asked, cells]) => matrixRow(index.cases[asked], cells, places));
  table.box.classList.add("matrix");
  table.show([...lines]);
  return [table.box];
}

function designHead(design) {
  return [design.agent, el("br"), el("span", { class: "note" }, design.model), " ", answered(design.provenance)];
}

function matrixRow(asked, cells, places) {
  return el("tr", {},
    el("th", { scope: "row" }, asked.case, " ", el("span", { class: "note" }, asked.set), asked.question && el("span", { class: "note question" }, ` ${asked.question}`)),
    places.map((place) => el("td", {}, cells.has(place) ? matrixCell(asked, cells.get(place)) : el("span", { class: "note", "aria-label": "not run" }, "·"))),
  );
}

function matrixCell(asked, found) {
  const worst = found.reduce((one, other) => (gravity(other) < gravity(one) ? other : one));
  const kept = found.filter((trial) => trial.verdict === "kept").length;
  const word = worst.known ? "known" : worst.verdict;
  const sign = { kept: "✓", broken: "✗", known: "≈", could_not_check: "?" }[word];
  const count = found.length > 1 ? ` ${kept}/${found.length}` : "";
  const why = worst.broken.join(", ");
  const told = `${asked.case}, ${designName(worst)}: ${word.replaceAll("_", " ")}, ${kept} of ${found.length} kept${why ? `; ${why}` : ""}`;
  return el("a", { class: `cell ${word}`, href: caseLink(worst), "aria-label": told, title: why || undefined }, `${sign}${count}`, why && el("span", { class: "cell-why" }, why));
}

routes.recordings = async (panel) => {
  setTitle("Recordings");
  const holder = byId("recordings-list");
  if (!trials.length) return;
  let told;
  try {
    told = await unpack(index.recordings.chunk, index.recordings.place);
  } catch (error) {
    holder.replaceChildren(el("p", { class: "banner", role: "alert" }, error.message));
    return;
  }
  const widths = { "answered by": 8, embeddings: 8, case: 16, design: 18, cassette: 34, "digest of the answers": 14 };
  const columns = Object.entries(widths).map(([title, width]) => ({ title, width }));
  const table = rowTable("Recordings", columns, (trial) => {
    const [cassette, digest, embeddings] = told[trial.number];
    return el("tr", {},
      el("td", {}, answered(trial.provenance)),
      el("td", {}, embeddings === "none" ? "–" : answered(embeddings)),
      el("th", { scope: "row" }, el("a", { href: caseLink(trial) }, `${trial.set}/${trial.case}${trial.trial ? ` · ${trial.trial}` : ""}`)),
      el("td", {}, designName(trial)),
      el("td", {}, cassette ? el("code", {}, cassette) : "none"),
      el("td", {}, el("code", {}, digest)),
    );
  });
  if (current.part !== "recordings") return;
  const { bar, apply } = filterBar("recordings", table.show);
  holder.replaceChildren(bar, table.box);
  apply();
};
