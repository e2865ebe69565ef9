/* The desk's dialog: it reads /api/estagiario/stream, shows the four stages while the desk works, then its answer. */

import { showAnswer } from "{{ assets }}/answers.js";
import { byId, el, line, told } from "{{ assets }}/dom.js";
import { ask, lines } from "{{ assets }}/ndjson.js";
import { StageBar } from "{{ assets }}/turn.js";
import { t } from "{{ assets }}/words.js";

const API = "/api/estagiario";
const message = byId("message");
let running = null;
let open = false;

const announce = (text) => { byId("status").textContent = text; };

/** A chat of its own, by a cookie that no script can read. */
async function signIn() {
  if (open) return;
  await (await ask(`${API}/start`, { body: {} })).json();
  open = true;
}

async function send() {
  const text = message.value.trim();
  if (!text || running) return;
  const stages = new StageBar();
  const answer = el("div", { class: "answer told", dir: "auto" });
  const step = el("p", { class: "note told", dir: "auto" });
  byId("told").append(el("article", { class: "turn", "aria-label": line(text, 80) }, el("div", { class: "asked" }, told(text, { kind: "question" })), stages.element, step, answer));
  const run = { trial: "", stopping: false };
  running = run;
  message.value = "";
  showRunning();
  try {
    await signIn();
    const response = await ask(`${API}/stream?stages=1`, { body: { message: text } });
    run.trial = response.headers.get("x-trial") ?? "";
    if (run.stopping) stop();
    for await (const each of lines(response)) show(each, { stages, step, answer });
  } catch (error) {
    if (error.code === "no-such-session") open = false;
    fail(stages, answer, error.message);
  } finally {
    step.textContent = "";
    running = null;
    showRunning();
  }
}

function show({ type, content, tool, code }, { stages, step, answer }) {
  if (type === "stage") {
    stages.reach(content);
    announce(t(content));
  } else if (type === "thought") step.textContent = line(content, 200);
  else if (type === "action") step.textContent = `${t("action")}: ${line(tool)}`;
  else if (type === "final_answer") {
    stages.end(true);
    announce(t("answered"));
    showAnswer(answer, content, told(content));
  } else if (type === "error") fail(stages, answer, code === "run-cancelled" ? t("stopped") : content);
}

function fail(stages, answer, text) {
  stages.end(false);
  answer.replaceChildren(el("p", { class: "outcome" }, line(text, 400)));
  announce(line(text));
}

async function stop() {
  if (!running) return;
  running.stopping = true;
  if (running.trial) await (await ask(`/api/trials/${encodeURIComponent(running.trial)}/stop`, { body: {} })).json().catch(() => {});
}

function showRunning() {
  byId("send").hidden = Boolean(running);
  byId("stop").hidden = !running;
  if (!running) message.focus();
}

byId("open").addEventListener("click", () => {
  byId("desk").showModal();
  message.focus();
});
byId("close").addEventListener("click", () => byId("desk").close());
byId("desk").addEventListener("close", () => stop());
byId("desk").addEventListener("cancel", (event) => {
  if (!running) return;
  event.preventDefault();
  stop();
});
byId("stop").addEventListener("click", stop);
byId("message-form").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
message.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  event.preventDefault();
  send();
});
