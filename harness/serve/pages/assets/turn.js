/* One question and what comes of it: stages, figures, steps, answer. Fed with events, live or played. */

import { showAnswer } from "./answers.js";
import { el, line, told } from "./dom.js";
import { Steps } from "./steps.js";
import { count, known, money, seconds, t } from "./words.js";

export const STAGES = ["understanding", "planning", "querying", "synthesising"];

/** The four stages as a list that marks where a run is. */
export class StageBar {
  constructor() {
    this.items = STAGES.map((stage) => el("li", { class: "stage" }, el("span", {}, t(stage))));
    this.element = el("ol", { class: "stages", "aria-label": t("progress") }, ...this.items);
  }

  reach(stage) {
    const at = STAGES.indexOf(stage);
    if (at < 0) return;
    this.items.forEach((item, place) => {
      item.classList.toggle("reached", place < at);
      if (place === at) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
  }

  /** Nothing goes on any more; `whole` where the run came to its proper end. */
  end(whole) {
    this.items.forEach((item) => {
      if (whole) item.classList.add("reached");
      item.removeAttribute("aria-current");
    });
  }
}

/** A question with its run. */
export class Turn {
  constructor({ question, about = "", provenance = "", announce = () => {}, controls = null }) {
    this.announce = announce;
    this.over = false;
    this.began = performance.now();
    this.stages = new StageBar();
    this.figures = Object.fromEntries(["model_calls", "tool_calls", "tokens_in", "tokens_out", "cost", "time"].map((key) => [key, el("dd", {}, key === "cost" ? money(null) : key === "time" ? seconds(0) : "0")]));
    this.tools = 0;
    this.answer = el("div", { class: "answer told", dir: "auto" });
    this.streaming = null;
    this.outcome = el("p", { class: "outcome" });
    this.list = el("ol", { class: "steps" });
    this.steps = new Steps(this.list);
    this.scroll = el("div", { class: "steps-scroll", role: "group", tabindex: "0", "aria-label": t("steps") }, this.list);
    this.quiet = el("input", { type: "checkbox" });
    this.quiet.addEventListener("change", () => {
      this.list.classList.toggle("all", this.quiet.checked);
      this.#count();
    });
    this.counted = el("span", {}, "0");
    this.provenance = el("span", { class: "mark provenance", hidden: !provenance }, provenance ? known(`provenance_${provenance}`, provenance) : "");
    this.element = el(
      "article",
      { class: "turn", "aria-label": line(question, 80) || t("question") },
      el("div", { class: "asked" }, told(question, { more: t("show_all"), kind: "question" }), el("p", { class: "note" }, line(about, 200), " ", this.provenance)),
      this.stages.element,
      el("dl", { class: "figures" }, ...Object.entries(this.figures).map(([key, value]) => el("div", {}, el("dt", {}, t(key)), value))),
      controls,
      el("details", { class: "trace", open: true }, el("summary", {}, `${t("steps")} (`, this.counted, ")"), el("label", { class: "everything" }, this.quiet, ` ${t("every_event")}`), this.scroll),
      this.outcome,
      this.answer,
    );
  }

  /** Say who answers, once that is known. */
  answeredBy(provenance) {
    this.provenance.textContent = known(`provenance_${provenance}`, provenance);
    this.provenance.hidden = !provenance;
  }

  /** Show `event`; whether there is anything to see of it among the steps. */
  add(event, { live = false } = {}) {
    const { type, data } = event;
    const atEnd = this.scroll.scrollTop + this.scroll.clientHeight >= this.scroll.scrollHeight - 24;
    if (event.stage) {
      this.stages.reach(event.stage);
      this.announce(t(event.stage));
    }
    if (event.spent) this.#spend(event.spent);
    if (type === "tool_call") this.figures.tool_calls.textContent = count((this.tools += 1));
    this.tick(live ? performance.now() - this.began : event.ts ?? 0);
    const seen = this.steps.add(event);
    this.#count();
    if (type === "llm_chunk" && data.visible) this.#stream(data.text);
    else if (type === "final_answer") this.#answer(data);
    else if (type === "trial_finished") this.end(data.status, data.reason ?? "");
    else if (type === "error" && data.where === "harness" && (data.fatal ?? true)) this.fail(data.kind, data.message);
    if (atEnd) this.scroll.scrollTop = this.scroll.scrollHeight;
    return seen;
  }

  /** Say how long it has taken so far, in milliseconds. */
  tick(ms = performance.now() - this.began) {
    this.figures.time.textContent = seconds(Math.max(0, ms));
  }

  /** The run came to its end, in whatever status. */
  end(status, reason) {
    this.stages.end(status === "completed");
    this.#conclude(status === "completed" ? "" : `${known(`status_${status}`, status)}${reason ? `: ${line(reason, 400)}` : ""}`, status);
    this.announce(status === "completed" ? t("answered") : known(`status_${status}`, status));
  }

  /** The run came to no proper end. */
  fail(code, message, hint = "") {
    this.stages.end(false);
    if (code === "run-cancelled") {
      this.#conclude(t("stopped"), "cancelled");
      this.announce(t("stopped"));
      return;
    }
    this.#conclude([line(message, 600), line(hint, 300)].filter(Boolean).join(" — "), "failed");
    this.announce(`${t("error")}: ${line(message)}`);
  }

  #count() {
    this.counted.textContent = count(this.quiet.checked ? this.steps.number : this.steps.shown);
  }

  #conclude(text, status) {
    this.over = true;
    this.element.dataset.status = status;
    this.outcome.textContent = text;
  }

  #spend(spent) {
    this.figures.model_calls.textContent = count(spent.llm_calls);
    this.figures.tokens_in.textContent = count(spent.input) + (spent.cached ? ` (${t("cached", { n: count(spent.cached) })})` : "");
    this.figures.tokens_out.textContent = count(spent.output) + (spent.thinking ? ` (${t("thinking_tokens", { n: count(spent.thinking) })})` : "");
    this.figures.cost.textContent = money(spent.cost_usd);
  }

  #stream(text) {
    if (!this.streaming) {
      this.streaming = told("", { kind: "streaming" });
      this.answer.replaceChildren(this.streaming);
    }
    this.streaming.append(text);
  }

  #answer(data) {
    this.text = data.text;
    showAnswer(this.answer, data.text, told(data.text, { more: t("show_all") }));
  }
}
