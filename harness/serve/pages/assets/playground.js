/* The playground: ask a design, or play a recording, and watch. */

import { byId, el, line, told } from "./dom.js";
import { ask, lines } from "./ndjson.js";
import { Player } from "./player.js";
import { Turn } from "./turn.js";
import { known, lang, t } from "./words.js";
import { Options } from "./options.js";
import { showAnswer } from "./answers.js";

const SESSION = "tapegate-session";
const design = byId("design");
const profile = byId("profile");
const model = byId("model");
const question = byId("question");
const turns = byId("turns");
const options = new Options(byId("options"), byId("option-fields"));
let agents = [];
let recordings = [];
let served = null;
let running = null;

const mode = () => document.querySelector("input[name=mode]:checked").value;
const announce = (text) => { byId("status").textContent = text; };
const option = (value, text = value) => el("option", { value }, line(text, 120));

/* What can be asked. */

async function loadAgents() {
  const told_ = await (await ask("/api/agents")).json();
  agents = told_.agents;
  served = told_.model;
  design.replaceChildren(...agents.map((agent) => option(agent.name)));
  model.replaceChildren(...(served ? [served, ...told_.models.filter((name) => name !== served)] : told_.models).map((name) => option(name)));
  byId("no-model").hidden = Boolean(served);
  for (const control of [byId("ask"), question, model]) control.disabled = !served;
  if (!served && !location.hash) setMode("play");
  chooseDesign();
}

function chooseDesign() {
  const agent = agents.find((each) => each.name === design.value);
  if (!agent) return;
  byId("about").textContent = line(agent.about, 400);
  profile.replaceChildren(...agent.profiles.map((name) => option(name)));
  byId("profile-field").hidden = agent.profiles.length < 2;
  options.show(agent.options);
  byId("drawing").hidden = !agent.picture;
  byId("picture").textContent = agent.picture;
}

const agentName = () => (profile.value && profile.value !== "reference" ? `${design.value}@${profile.value}` : design.value);

/* Asking. */

async function askQuestion() {
  const text = question.value.trim();
  if (!text || running || !served) return;
  const turn = begin({ question: text, about: `${agentName()} · ${model.value}` });
  const run = { turn, trial: "", aborted: new AbortController(), stopping: false };
  running = run;
  question.value = "";
  showRunning();
  const ticking = setInterval(() => turn.tick(), 200);
  try {
    const body = { question: text, model: model.value, options: options.values(), session: await session(), stream: true, lang };
    const response = await ask(`/api/agents/${encodeURIComponent(agentName())}/ask`, { body, signal: run.aborted.signal });
    run.trial = response.headers.get("x-trial") ?? "";
    turn.answeredBy(response.headers.get("x-provenance") ?? "");
    if (run.stopping) stopRun(run);
    for await (const event of lines(response)) turn.add(event, { live: true });
    if (!turn.over) turn.fail("", t("broken_off"));
  } catch (error) {
    if (error.code === "no-such-session") forgetSession();
    if (error.name === "AbortError") turn.fail("run-cancelled", "");
    else turn.fail(error.code ?? "", error.message, error.hint);
  } finally {
    clearInterval(ticking);
    running = null;
    showRunning();
  }
}

/** Have the server end the run; where it cannot be told, leaving ends it too. */
async function stopRun(run) {
  run.stopping = true;
  if (!run.trial) return;
  try {
    await (await ask(`/api/trials/${encodeURIComponent(run.trial)}/stop`, { body: {} })).json();
  } catch (error) {
    if (error.code !== "no-such-trial") run.aborted.abort();
  }
}

function stop() {
  if (!running) return;
  if (running.player) running.player.end();
  else stopRun(running);
}

function showRunning() {
  const asking = Boolean(running) && !running.player;
  byId("ask").hidden = asking;
  byId("stop").hidden = !asking;
  byId("ask").disabled = !served || Boolean(running);
  byId("play").disabled = Boolean(running);
  if (!running && document.activeElement === document.body && mode() === "ask") question.focus();
}

function begin(what) {
  byId("welcome").hidden = true;
  const turn = new Turn({ ...what, announce });
  turns.append(turn.element);
  turn.element.scrollIntoView({ block: "start", behavior: "smooth" });
  return turn;
}

/* Conversations. */

async function session() {
  let name = sessionStorage.getItem(SESSION);
  if (!name) {
    name = (await (await ask("/api/sessions", { body: {} })).json()).session;
    sessionStorage.setItem(SESSION, name);
  }
  return name;
}

const forgetSession = () => sessionStorage.removeItem(SESSION);

function newConversation() {
  stop();
  forgetSession();
  turns.replaceChildren();
  byId("welcome").hidden = false;
  announce(t("new_conversation"));
  if (!question.disabled) question.focus();
}

/** What was said before the page was loaded anew. */
async function resume() {
  const name = sessionStorage.getItem(SESSION);
  if (!name) return;
  try {
    const { turns: said } = await (await ask("/api/sessions/current", { headers: { "x-session": name } })).json();
    for (const { role, text } of said) {
      if (role === "user") turns.append(el("article", { class: "turn", "aria-label": line(text, 80) }, el("div", { class: "asked" }, told(text, { more: t("show_all"), kind: "question" }))));
      else {
        const box = el("div", { class: "answer told", dir: "auto" });
        turns.lastElementChild?.append(box);
        showAnswer(box, text, told(text, { more: t("show_all") }));
      }
    }
    byId("welcome").hidden = said.length > 0;
  } catch {
    forgetSession();
  }
}

/* Recordings. */

async function loadRecordings() {
  recordings = (await (await ask("/api/recordings")).json()).recordings;
  listRecordings();
  const wanted = new URLSearchParams(location.hash.slice(1)).get("recording");
  if (wanted && recordings.some((each) => each.url === wanted)) {
    setMode("play");
    byId("recording").value = wanted;
    pick();
  }
}

function listRecordings() {
  const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = recordings.filter((each) => words.every((word) => `${each.set} ${each.case} ${each.agent} ${each.model} ${each.provenance} ${each.lang} ${each.question}`.toLowerCase().includes(word)));
  const groups = new Map();
  for (const each of found) {
    if (!groups.has(each.set)) groups.set(each.set, el("optgroup", { label: each.set }));
    groups.get(each.set).append(option(each.url, `${each.case}${each.trial ? ` #${each.trial}` : ""} · ${each.agent} · ${each.model}`));
  }
  byId("recording").replaceChildren(...groups.values());
  byId("recordings-found").textContent = t("found_of", { n: found.length, of: recordings.length });
  if (found.length) byId("recording").value = found[0].url;
  pick();
}

const picked = () => recordings.find((each) => each.url === byId("recording").value);

function pick() {
  const item = picked();
  byId("picked").hidden = !item;
  byId("play").disabled = !item || Boolean(running);
  if (!item) return;
  const facts = { question: line(item.question, 300), design: item.agent, model: item.model, answered_by: known(`provenance_${item.provenance}`, item.provenance) };
  byId("picked").replaceChildren(...Object.entries(facts).flatMap(([key, value]) => [el("dt", {}, t(key)), el("dd", { class: "told", dir: "auto" }, line(value, 300))]));
}

async function play() {
  const item = picked();
  if (!item || running) return;
  history.replaceState(null, "", `#${new URLSearchParams({ recording: item.url })}`);
  byId("welcome").hidden = true;
  const player = new Player({
    speed: byId("speed").value,
    show: (event) => turn.add(event),
    tick: (ms) => turn.tick(ms),
    ended: (whole) => {
      running = null;
      if (!whole) turn.fail("run-cancelled", "");
      showRunning();
    },
  });
  const about = `${item.set}/${item.case} · ${item.agent} · ${item.model}`;
  const turn = new Turn({ question: item.question, about, provenance: item.provenance, announce, controls: player.element });
  turns.append(turn.element);
  turn.element.scrollIntoView({ block: "start", behavior: "smooth" });
  running = { turn, player };
  showRunning();
  try {
    const events = [];
    for await (const event of lines(await ask(item.url, { body: {} }))) events.push(event);
    player.play(events);
  } catch (error) {
    player.end();
    turn.fail(error.code ?? "", error.message, error.hint);
  }
}

/* The page. */

function setMode(value) {
  document.querySelector(`input[name=mode][value=${value}]`).checked = true;
  showMode();
}

function showMode() {
  if (mode() === "ask" && location.hash) history.replaceState(null, "", location.pathname);
  byId("asking").hidden = mode() !== "ask";
  byId("playing").hidden = mode() !== "play";
  byId("composer").hidden = mode() !== "ask";
}

for (const radio of document.querySelectorAll("input[name=mode]")) radio.addEventListener("change", showMode);
design.addEventListener("change", chooseDesign);
byId("find").addEventListener("input", listRecordings);
byId("recording").addEventListener("change", pick);
byId("recording").addEventListener("dblclick", play);
byId("playing").addEventListener("submit", (event) => (event.preventDefault(), play()));
byId("composer").addEventListener("submit", (event) => (event.preventDefault(), askQuestion()));
byId("stop").addEventListener("click", stop);
byId("new-conversation").addEventListener("click", newConversation);
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) {
    event.preventDefault();
    askQuestion();
  }
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && running) stop();
});

if (!location.hash) showMode();
try {
  await Promise.all([loadAgents(), loadRecordings()]);
  await resume();
} catch (error) {
  byId("welcome").textContent = line(`${t("error")}: ${error.message}`, 400);
}
