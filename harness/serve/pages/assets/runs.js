/* Runs of `harness run`: what there is, and one that is followed while its verdicts land. */

import { byId, el, line, told } from "./dom.js";
import { ask, lines, Refused } from "./ndjson.js";
import { Player } from "./player.js";
import { Turn } from "./turn.js";
import { count, known, moment, seconds, t } from "./words.js";

const MOST_ROWS = 300;
const REFRESH_MS = 5000;
const AGAIN_MS = 3000;
const rows = byId("verdicts");
const announce = (text) => { byId("status").textContent = text; };
let followed = null;
let playing = null;

/* The list. */

async function list() {
  if (document.hidden) return;
  const { runs } = await (await ask("/api/runs")).json();
  byId("no-runs").hidden = runs.length > 0;
  byId("runs").replaceChildren(...runs.map(item));
}

/** When a run began, read from its id: UTC to the millisecond. */
function began(run) {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)/.exec(run) ?? [];
  return parts.length ? moment(Date.UTC(parts[0], parts[1] - 1, ...parts.slice(2))) : "";
}

function item(run) {
  const state = run.state === "unfinished" && run.silent_seconds < 15 ? "running" : run.state;
  const done = run.planned && state !== "finished" ? `${count(run.done)}/${count(run.planned)}` : t("trials", { n: count(run.done) });
  const totals = run.totals.trials ? [["broken", run.totals.broken - run.totals.known], ["known", run.totals.known], ["could_not_check", run.totals.could_not_check]] : [];
  return el(
    "li",
    {},
    el("a", { href: `#${new URLSearchParams({ run: run.run })}`, "aria-current": followed?.run === run.run ? "true" : false }, run.run),
    el("span", { class: "note" }, ` ${began(run.run)} · ${t(`run_${state}`)} · ${done}${run.partial ? ` · ${t("partial")}` : ""} `),
    ...totals.filter(([, number]) => number > 0).flatMap(([kind, number]) => [el("span", { class: `mark ${kind}` }, `${count(number)} ${t(kind)}`), " "]),
  );
}

/* One run. */

async function follow(run) {
  if (followed?.run === run) return;
  followed?.aborted.abort();
  const mine = { run, aborted: new AbortController(), verdicts: [], planned: null, finished: null, silent: 0 };
  followed = mine;
  byId("welcome").hidden = true;
  byId("run").hidden = false;
  byId("run-name").textContent = run;
  list().catch(() => {});
  while (followed === mine && !mine.finished) {
    try {
      await read(mine);
    } catch (error) {
      if (followed !== mine || error.name === "AbortError") return;
      byId("run-told").textContent = line(error.message, 300);
      if (error instanceof Refused) return;
    }
    if (!mine.finished) await new Promise((goOn) => setTimeout(goOn, AGAIN_MS)); // the server went away: it may come back
  }
}

/** Read a run from its begin to wherever the stream ends. */
async function read(mine) {
  mine.verdicts = [];
  rows.replaceChildren();
  showProgress(mine);
  for await (const each of lines(await ask(`/api/runs/${encodeURIComponent(mine.run)}`, { signal: mine.aborted.signal }))) take(mine, each);
}

function take(mine, told_) {
  if (followed !== mine) return;
  if (told_.type === "run") mine.planned = told_.planned;
  if (told_.type === "verdict") {
    mine.verdicts.push(told_);
    mine.silent = 0;
    if (shown(told_)) addRow(told_);
  }
  if (told_.type === "still") mine.silent = told_.silent_seconds;
  if (told_.type === "finished") {
    mine.finished = told_;
    announce(t("run_finished"));
  }
  schedule(mine);
}

/** Verdicts may come by the thousand: the figures are written once a frame. */
function schedule(mine) {
  if (mine.scheduled) return;
  mine.scheduled = true;
  requestAnimationFrame(() => {
    mine.scheduled = false;
    if (followed === mine) showProgress(mine);
  });
}

function showProgress(mine) {
  const done = mine.verdicts.length;
  const total = mine.planned ?? (mine.finished ? done : null);
  const bar = byId("run-progress");
  if (total === null) bar.removeAttribute("value");
  else {
    bar.max = Math.max(total, done, 1);
    bar.value = done;
  }
  const state = byId("run-state");
  const code = mine.finished?.exit_code;
  state.textContent = mine.finished ? t("run_finished") : mine.silent ? t("run_unfinished") : t("run_running");
  state.className = `mark ${mine.finished ? (code === 0 ? "kept" : code === 1 ? "broken" : "could_not_check") : ""}`;
  const told_ = [mine.planned ? t("done_of", { n: count(done), of: count(mine.planned) }) : t("trials", { n: count(done) })];
  if (mine.finished) told_.push(t("exit_code", { n: code }));
  else if (mine.silent) told_.push(t("silent_for", { time: seconds(mine.silent * 1000) }));
  if (mine.finished?.partial) told_.push(t("partial"));
  byId("run-told").textContent = told_.join(" · ");
  byId("tally").replaceChildren(...tally(mine.verdicts).map(([kind, number]) => el("li", { class: `mark ${kind}` }, `${count(number)} ${t(kind)}`)));
  const hidden = mine.verdicts.filter(shown).length - rows.childElementCount;
  byId("more").textContent = hidden > 0 ? t("more_rows", { n: count(hidden) }) : "";
}

function tally(verdicts) {
  const counts = { kept: 0, broken: 0, known: 0, could_not_check: 0 };
  for (const each of verdicts) counts[each.verdict === "broken" && each.known ? "known" : each.verdict] += 1;
  return Object.entries(counts).filter(([kind, number]) => number > 0 || kind === "kept");
}

function shown(verdict) {
  const wanted = byId("show").value;
  if (wanted && verdict.verdict !== wanted) return false;
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return true;
  const text = [verdict.set, verdict.case, verdict.agent, verdict.model, verdict.provenance, verdict.because, ...verdict.broken.map((each) => each.contract)].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

function addRow(verdict) {
  rows.prepend(row(verdict));
  while (rows.childElementCount > MOST_ROWS) rows.lastElementChild.remove();
}

function showRows() {
  if (!followed) return;
  rows.replaceChildren(...followed.verdicts.filter(shown).slice(-MOST_ROWS).reverse().map(row));
  showProgress(followed);
}

function row(verdict) {
  const name = `${verdict.set}/${verdict.case}${verdict.trial ? ` #${verdict.trial}` : ""}`;
  const kind = verdict.verdict === "broken" && verdict.known ? "known" : verdict.verdict;
  const why = [...new Set(verdict.broken.filter((each) => !each.advisory).map((each) => each.contract)), verdict.because].filter(Boolean).join(", ");
  const tokens = verdict.tokens.input + verdict.tokens.output;
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, el("a", { href: `#${address(verdict)}` }, line(name, 80))),
    el("td", {}, el("span", { class: `mark ${kind}` }, t(kind))),
    el("td", { class: "told" }, line(verdict.agent, 60)),
    el("td", { class: "told" }, line(verdict.model, 60), verdict.provenance === verdict.model ? null : el("span", { class: "note" }, ` ${known(`provenance_${verdict.provenance}`, verdict.provenance)}`)),
    el("td", { class: "to-right" }, count(verdict.llm_calls)),
    el("td", { class: "to-right" }, count(tokens)),
    el("td", { class: "to-right" }, seconds(verdict.recorded_ms)),
    el("td", { class: "told" }, line(why, 120)),
  );
}

/* One trial. */

const address = (verdict) => new URLSearchParams({ run: followed.run, set: verdict.set, agent: verdict.agent, model: verdict.model, case: verdict.case, trial: verdict.trial });

async function openTrial(place) {
  const parts = ["set", "agent", "model", "case", "trial"].map((key) => place.get(key) ?? "");
  const verdict = followed.verdicts.find((each) => ["set", "agent", "model", "case"].every((key, at) => each[key] === parts[at]) && String(each.trial) === parts[4]);
  const [set, agent, model, name, trial] = parts;
  byId("trial-title").textContent = line(`${set}/${name}${Number(trial) ? ` #${trial}` : ""}`, 120);
  byId("trial-body").replaceChildren(el("p", { class: "note" }, t("loading")));
  if (!byId("trial").open) byId("trial").showModal();
  try {
    const path = `/api/runs/${encodeURIComponent(place.get("run"))}/traces/${parts.map(encodeURIComponent).join("/")}`;
    const events = [];
    for await (const event of lines(await ask(path))) events.push(event);
    showTrial(events, verdict, `${agent} · ${model}`);
  } catch (error) {
    byId("trial-body").replaceChildren(el("p", { class: "outcome" }, line([error.message, error.hint].filter(Boolean).join(" — "), 400)));
  }
}

function showTrial(events, verdict, about) {
  const question = events.find((event) => event.type === "trial_started")?.data.question ?? "";
  const show = (speed) => {
    const player = new Player({ speed, show: (event) => turn.add(event), tick: (ms) => turn.tick(ms), ended: (whole) => whole || turn.fail("run-cancelled", "") });
    const turn = new Turn({ question, about, provenance: verdict?.provenance ?? "", controls: player.element });
    place.replaceChildren(turn.element);
    playing?.end();
    playing = player;
    player.play(events);
  };
  const again = el("button", { type: "button" }, t("play_recorded"));
  again.addEventListener("click", () => show("1"));
  const place = el("div");
  byId("trial-body").replaceChildren(findings(verdict), el("p", {}, again), place);
  show("instant");
}

function findings(verdict) {
  if (!verdict) return "";
  const kind = verdict.verdict === "broken" && verdict.known ? "known" : verdict.verdict;
  const list = verdict.broken.map((each) => el("li", {}, el("strong", {}, line(each.contract)), each.advisory ? ` (${t("advisory")})` : "", each.judged_by ? ` (${t("judged_by", { who: known(`provenance_${each.judged_by}`, each.judged_by) })})` : "", ": ", told(each.because, { tag: "span" }), each.witness.length ? el("span", { class: "note" }, ` ${t("events", { n: each.witness.join(", ") })}`) : null));
  return el(
    "section",
    { "aria-label": t("findings") },
    el("p", {}, el("span", { class: `mark ${kind}` }, t(kind)), " ", line(verdict.because, 400), " ", el("span", { class: "note" }, line(verdict.at))),
    list.length ? el("ul", {}, ...list) : null,
  );
}

/* The page. */

function go() {
  const place = new URLSearchParams(location.hash.slice(1));
  const run = place.get("run");
  if (!run) return;
  const following = follow(run);
  if (place.get("case")) whenThere(place, following).catch(() => {});
}

/** A deep link names a trial that may still be on its way. */
async function whenThere(place, following) {
  const there = () => followed.verdicts.some((each) => each.case === place.get("case") && each.agent === place.get("agent"));
  const until = performance.now() + 3000;
  while (!there() && !followed.finished && performance.now() < until) await Promise.race([following, new Promise((goOn) => setTimeout(goOn, 50))]);
  await openTrial(place);
}

byId("trial").addEventListener("close", () => {
  playing?.end();
  byId("trial-body").replaceChildren();
  if (followed) history.replaceState(null, "", `#${new URLSearchParams({ run: followed.run })}`);
});
for (const id of ["show", "search"]) byId(id).addEventListener("input", showRows);
addEventListener("hashchange", go);
setInterval(() => list().catch(() => {}), REFRESH_MS);
await list().catch((error) => { byId("welcome").textContent = line(error.message, 300); });
go();
