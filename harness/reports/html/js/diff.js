/* Trajectory diffs: which trials differ and how far, and each edit of one on its own page. */
routes.diff = (panel, route) => {
  const [which, place] = route.path;
  const chosen = index.diffs[Number(which)]?.pairs[Number(place)];
  if (chosen) showDiff(panel, Number(which), Number(place), chosen);
  else listDiffs(panel);
};

function listDiffs(panel) {
  setTitle("Diff");
  const parts = index.diffs.map((diffs, which) => diffList(diffs, which));
  const hint = el("p", {}, "Two runs are compared with ", el("code", {}, `harness report ${index.run} --format html --against OTHER`), ", two designs of this one with ", el("code", {}, "--agent A --agent B"), ".");
  panel.replaceChildren(el("h1", { tabindex: "-1" }, "Trajectory diff"), ...(parts.length ? parts : [el("p", {}, "Nothing is compared in this report.")]), hint);
}

function diffList(diffs, which) {
  const title = diffs.kind === "run" ? `${diffs.a} → ${diffs.b}` : "Designs of this run on the same cases";
  const rows = diffs.pairs.map((pair, place) => ({ pair, which, place }));
  const same = rows.filter(({ pair }) => pair.same).length;
  const unread = rows.filter(({ pair }) => pair.unread).length;
  const sides = diffs.kind === "run" ? { design: 18, verdict: 16 } : { design: 22, against: 22 };
  const columns = Object.entries({ case: 16, ...sides, "what differs": 16, "first parting": 26 }).map(([title, width]) => ({ title, width }));
  columns.push({ title: "tokens", right: true, width: 6 });
  const table = rowTable(`Differences: ${title}`, columns, diffRow(diffs.kind));
  const shows = { differing: (row) => !row.pair.same, all: () => true, same: (row) => row.pair.same };
  const state = { what: "differing", q: "" };
  const search = el("input", { type: "search", id: `diff-q-${which}`, class: "search", autocomplete: "off" });
  const apply = () => table.show(rows.filter((row) => shows[state.what](row) && JSON.stringify([row.pair.a, row.pair.b, row.pair.because]).toLocaleLowerCase().includes(state.q)));
  search.addEventListener("input", () => {
    state.q = search.value.toLocaleLowerCase();
    apply();
  });
  const bar = el("div", { class: "filters no-print", role: "search", "aria-label": `Filter differences: ${title}` },
    el("div", { class: "field grows" }, el("label", { for: `diff-q-${which}` }, "search"), search),
    choice(`diff-what-${which}`, "show", [["differing", "what differs"], ["all", "all"], ["same", "what is the same"]], state.what, (value) => {
      state.what = value;
      apply();
    }));
  apply();
  const alone = [[diffs.only_a, diffs.a], [diffs.only_b, diffs.b]].filter(([cells]) => cells.length);
  return el("section", {}, el("h2", {}, title),
    el("p", { class: "note" }, `${figure(rows.length)} pairs of trials: ${figure(same)} the same, ${figure(rows.length - same - unread)} different${unread ? `, ${figure(unread)} without a trace that can be read` : ""}.`,
      diffs.left_out > 0 && ` ${figure(diffs.left_out)} more pairs of designs are left out: --agent A --agent B asks for those of two.`,
      alone.map(([cells, run]) => ` Only in ${run}: ${figure(cells.length)}.`)),
    bar, table.box);
}

function diffRow(kind) {
  return ({ pair, which, place }) => {
    const name = `${pair.a.set}/${pair.a.case}${pair.a.trial ? ` · ${pair.a.trial}` : ""}`;
    const sides = kind === "run"
      ? [el("td", {}, designName(pair.b)), el("td", {}, mark(pair.a.verdict, pair.a.known), " → ", mark(pair.b.verdict, pair.b.known))]
      : [el("td", {}, mark(pair.a.verdict, pair.a.known), ` ${designName(pair.a)}`), el("td", {}, mark(pair.b.verdict, pair.b.known), ` ${designName(pair.b)}`)];
    return el("tr", {},
      el("th", { scope: "row" }, pair.chunk === undefined ? name : el("a", { href: `#/diff/${which}/${place}` }, name)),
      sides,
      el("td", {}, pair.unread ? "no trace to compare" : pair.same ? "nothing" : countsOf(pair.counts)),
      el("td", { class: "why", title: pair.because || undefined }, pair.because),
      el("td", { class: "to-right" }, pair.tokens ? signed(pair.tokens) : ""));
  };
}

const signed = (value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${figure(Math.abs(value))}`;

function countsOf(counts) {
  const words = { insert: "inserted", delete: "deleted", replace: "replaced", reorder: "moved", regroup: "regrouped" };
  const told = Object.entries(words).filter(([kind]) => counts[kind]).map(([kind, word]) => `${counts[kind]} ${word}`);
  return told.length ? told.join(", ") : "the answer or the ending";
}

async function showDiff(panel, which, place, pair) {
  const diffs = index.diffs[which];
  setTitle(`Diff of ${pair.a.case}`);
  const side = (cell, run, here) => el("li", {}, mark(cell.verdict, cell.known), " ", el("span", { class: "told" }, designName(cell)), " ", answered(cell.provenance), " ",
    here ? el("a", { href: caseLink(cell) }, "its page") : el("span", { class: "note" }, `in run ${run}`));
  const body = el("div", {}, el("p", { class: "note" }, "Unpacking …"));
  panel.replaceChildren(
    el("nav", { class: "case-nav no-print", "aria-label": "Differences" }, el("a", { href: "#/diff" }, "All differences"),
      place > 0 && diffs.pairs[place - 1].chunk !== undefined && el("a", { href: `#/diff/${which}/${place - 1}` }, "previous"),
      diffs.pairs[place + 1]?.chunk !== undefined && el("a", { href: `#/diff/${which}/${place + 1}` }, "next"),
      copyButton(() => location.href, "the link to this difference", "copy link")),
    el("h1", { tabindex: "-1" }, pair.a.case, " ", el("span", { class: "note" }, pair.a.set)),
    el("ol", { class: "sides" }, side(pair.a, diffs.a, diffs.kind === "design"), side(pair.b, diffs.b, true)),
    body);
  try {
    const diff = await unpack(pair.chunk, pair.place);
    body.replaceChildren(...diffBody(diff));
  } catch (error) {
    body.replaceChildren(el("p", { class: "banner", role: "alert" }, error.message));
  }
}

function diffBody(diff) {
  const changes = (list) => el("ul", { class: "changes" }, list.map((change) => el("li", {}, changeOf(change))));
  return [
    diff.divergence && el("p", { class: "lead" }, `They part at step ${diff.divergence.step}: `, el("span", { class: "told" }, diff.divergence.because)),
    diff.setup.length > 0 && el("details", {}, el("summary", {}, `What they were given differs (${diff.setup.length})`), changes(diff.setup)),
    el("h2", {}, "Steps"),
    el("ol", { class: "edits" }, grouped(diff.edits).map(editItem)),
    diff.outcome.length > 0 && [el("h2", {}, "How it ended"), changes(diff.outcome)],
    el("h2", {}, "Answer"),
    diff.answer.every((stretch) => stretch.kind === "same")
      ? el("p", { class: "note" }, "the same")
      : el("div", { class: "told words", dir: "auto" }, wordsOf(diff.answer)),
  ].flat().filter(Boolean);
}

/** Runs of the same step become one line. */
function grouped(edits) {
  const groups = [];
  for (const edit of edits) {
    const last = groups.at(-1);
    if (edit.kind === "match" && last?.kind === "match") last.times += 1;
    else groups.push({ ...edit, times: 1 });
  }
  return groups;
}

const EDITS = { match: "same", insert: "inserted", delete: "deleted", replace: "replaced", reorder: "moved", regroup: "regrouped" };
const SIGNS = { match: "=", insert: "+", delete: "−", replace: "≠", reorder: "↕", regroup: "⧉" };

function editItem(edit) {
  if (edit.kind === "match") return el("li", { class: "edit match" }, el("span", { class: "sign" }, "="), ` ${edit.times === 1 ? "one step" : `${edit.times} steps`} the same`);
  const places = [edit.a, edit.b].filter((list) => list.length).map((list) => list.map((place) => place + 1).join(", "));
  const tokens = edit.tokens ? (edit.tokens.input ?? 0) + (edit.tokens.output ?? 0) : 0;
  return el("li", { class: `edit ${edit.kind}` },
    el("p", {}, el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[edit.kind]), ` step ${places.join(" → ")} `, el("strong", {}, EDITS[edit.kind]), tokens ? el("span", { class: "note" }, ` ${signed(tokens)} tokens`) : ""),
    (edit.kind === "delete" || edit.kind === "regroup") && edit.before.map((turn) => turnBox(turn, "gone")),
    (edit.kind === "insert" || edit.kind === "regroup") && edit.after.map((turn) => turnBox(turn, "come")),
    edit.changes.length > 0 && el("ul", { class: "changes" }, edit.changes.map((change) => el("li", {}, changeOf(change)))),
    edit.kind !== "regroup" && edit.calls.filter((call) => call.kind !== "match" || call.changes.length).map(callBox));
}

function turnBox(turn, kind) {
  return el("div", { class: `turn ${kind}` },
    el("p", { class: "note" }, [turn.slot || turn.purpose, turn.model].filter(Boolean).join(" · ")),
    turn.error && el("p", {}, "fails: ", shortText(turn.error)),
    turn.text && longText(turn.text, { limit: 600 }),
    turn.calls.map((call) => callLine(call)));
}

function callLine(call) {
  return el("div", { class: "asked" }, el("strong", {}, call.tool), " ", el("code", { class: "told" }, quoted(call.args)), call.ok === false && [" fails: ", shortText(call.error)], call.result && longText(call.result, { limit: 300 }));
}

function callBox(call) {
  const word = { insert: "called as well", delete: "not called any more", replace: "called in another way", reorder: "called at another place", match: "called alike" }[call.kind];
  const tool = call.after?.tool ?? call.before?.tool ?? "";
  return el("div", { class: `turn ${call.kind === "insert" ? "come" : call.kind === "delete" ? "gone" : ""}` }, el("p", {}, el("strong", {}, tool), ` ${word}`),
    call.kind === "insert" && callLine(call.after), call.kind === "delete" && callLine(call.before),
    call.changes.length > 0 && el("ul", { class: "changes" }, call.changes.map((change) => el("li", {}, changeOf(change)))));
}

function changeOf(change) {
  const path = change.path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("").replace(/^\./, "");
  if (change.words?.length) return [el("code", {}, path), " ", el("span", { class: "told words" }, wordsOf(change.words))];
  const value = (kind, told) => el(kind, { class: "told" }, quoted(told ?? null));
  return [el("code", {}, path), " ", change.kind !== "add" && value("del", change.before), change.kind === "change" && " ", change.kind !== "remove" && value("ins", change.after)];
}

function wordsOf(words) {
  return words.map((stretch) => (stretch.kind === "same" ? shortText(stretch.text, 4000) : el(stretch.kind === "gone" ? "del" : "ins", {}, shortText(stretch.text, 4000))));
}
