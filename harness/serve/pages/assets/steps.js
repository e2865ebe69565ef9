/* Events of a trace as steps that a person follows: one row each, the whole event behind a disclosure. */

import { el, line, told } from "./dom.js";
import { count, known, seconds, t } from "./words.js";

const QUIET = new Set(["trial_started", "config_resolved", "phase_finished", "progress", "state_saved", "state_loaded", "llm_chunk", "llm_result", "trial_finished", "solution"]);
const MOST_STEPS = 2000;

/** Writes steps into `list`, an `ol`. */
export class Steps {
  constructor(list) {
    this.list = list;
    this.number = 0;
    this.shown = 0;
    this.calls = new Map();
  }

  /** Show `event`, or add it to the step that it belongs to; whether there is anything to see of it. */
  add(event) {
    const { type, data } = event;
    if (type === "llm_chunk") this.#chunk(data);
    else if (type === "llm_result") this.#result(event);
    else this.#append(event, (SHOWN[type] ?? other)(event));
    return !QUIET.has(type) || type.startsWith("llm_");
  }

  #append(event, shown) {
    if (this.number >= MOST_STEPS) return;
    const [kind, title, ...content] = shown;
    const body = el("div", { class: "step-body" }, ...content);
    const events = [event];
    const row = el(
      "li",
      { class: `step ${kind}${QUIET.has(event.type) ? " quiet" : ""}` },
      el("div", { class: "step-head" }, el("span", { class: "kind" }, title), el("span", { class: "when" }, seconds(event.ts ?? 0))),
      body,
      raw(events),
    );
    this.list.append(row);
    this.number += 1;
    if (!QUIET.has(event.type)) this.shown += 1;
    if (event.type === "llm_call") this.calls.set(event.span, { row, body, events, text: null });
  }

  #chunk(data) {
    const call = this.calls.get(data.call_span);
    if (!call || (data.channel ?? "text") === "tool_args") return;
    if (!call.text) {
      call.text = told("", { kind: "streaming" });
      call.body.append(call.text);
    }
    if (call.text.textContent.length < 20000) call.text.append(data.text);
  }

  #result(event) {
    const call = this.calls.get(event.data.call_span);
    if (!call) {
      this.#append(event, ["model", t("model_call"), ...replied(event.data)]);
      return;
    }
    call.events.push(event);
    call.text?.remove();
    call.body.append(...replied(event.data).filter(Boolean));
  }
}

const SHOWN = {
  trial_started: ({ data }) => ["start", t("started"), el("p", { class: "note" }, line([data.system, data.profile, data.case_id].filter(Boolean).join(" · ")))],
  phase_started: ({ data }) => ["phase", t("phase"), el("p", {}, line(data.name), data.attempt ? ` (${count(data.attempt + 1)})` : "")],
  llm_call: ({ data }) => ["model", t("model_call"), el("p", { class: "note" }, line([data.purpose, data.slot, data.model].filter(Boolean).join(" · ")))],
  thinking: ({ data }) => ["thought", t("thought"), data.text ? said(data.text) : el("p", { class: "note" }, t("thought_redacted"))],
  tool_call: ({ data }) => ["action", t("action"), called(data)],
  tool_result: ({ data }) => [`observation ${data.ok ? "ok" : "failed"}`, t("observation"), observed(data)],
  plan_updated: ({ data }) => ["plan", t("plan"), planned(data)],
  solution: ({ data }) => ["solution", t("draft"), said(data.preview ?? "")],
  verification: ({ data }) => [`verification ${data.passed ? "ok" : "failed"}`, t("verification"), ...verified(data)],
  progress: ({ data }) => ["progress", t("progress"), el("p", { class: "note" }, line([data.stage, data.message, data.detail].filter(Boolean).join(" · ")))],
  fallback_used: ({ data }) => ["warning", t("fallback"), el("p", {}, line(`${data.origin} → ${data.to}: ${data.reason}`, 400))],
  warning: ({ data }) => ["warning", t("warning"), el("p", {}, line(`${data.code} ${data.detail ?? ""}`, 400))],
  error: ({ data }) => ["failure", t("error"), el("p", {}, line(`${data.kind}: ${data.message}`, 600))],
  final_answer: () => ["final", t("answer"), el("p", { class: "note" }, t("see_answer"))],
  trial_finished: ({ data }) => ["end", t("finished"), el("p", { class: "note" }, line([known(`status_${data.status}`, data.status), data.reason].filter(Boolean).join(" · ")))],
};

const other = ({ type }) => ["other", line(type)];
const said = (text) => told(text, { more: t("show_all") });

function called(data) {
  const args = data.args === null || data.args === undefined ? data.args_raw : JSON.stringify(data.args, null, 1);
  const effect = data.effect === "write" || data.effect === "external" ? el("span", { class: "mark effect" }, t(`effect_${data.effect}`)) : null;
  return el("div", {}, el("code", {}, line(data.tool)), effect ? " " : "", effect, args && args !== "{}" ? told(args, { more: t("show_all"), kind: "code" }) : null);
}

function observed(data) {
  const failed = data.ok ? null : el("p", {}, el("span", { class: "mark broken" }, t("failed")), ` ${line(data.error_kind ?? "")}`);
  return el("div", {}, failed, said(data.text ?? ""));
}

function planned(data) {
  const steps = data.plan.map((step) => el("li", { class: `todo ${/done|completed/.test(step.status) ? "done" : ""}` }, told(step.text, { tag: "span" }), " ", el("span", { class: "note" }, line(step.status))));
  return steps.length ? el("ol", { class: "plan-steps" }, ...steps) : el("p", { class: "note" }, line(data.action));
}

function verified(data) {
  const issues = (data.issues ?? []).map((issue) => el("li", {}, told(`${issue.severity}: ${issue.what || issue.where}`, { tag: "span" })));
  const mark = el("span", { class: `mark ${data.passed ? "kept" : "broken"}` }, data.passed ? t("passed") : t("not_passed"));
  return [
    el("p", {}, mark, " ", t("verification_of", { round: count(data.round), count: count(data.count), required: count(data.required) })),
    issues.length ? el("ul", {}, ...issues) : null,
  ];
}

function replied(data) {
  const usage = data.usage ?? {};
  const told_ = data.error ? `${data.error.kind}: ${data.error.message}` : "";
  return [
    el("p", { class: "note" }, t("reply_took", { input: count(usage.input ?? 0), output: count(usage.output ?? 0), time: seconds(data.ms ?? 0) })),
    told_ ? el("p", {}, el("span", { class: "mark broken" }, t("failed")), ` ${line(told_, 400)}`) : null,
    data.text ? said(data.text) : null,
  ];
}

/** The events of a step as JSON, written when somebody looks. */
function raw(events) {
  const box = el("details", { class: "raw" }, el("summary", {}, t("event", { n: count(events[0].seq ?? 0) })));
  box.addEventListener("toggle", () => {
    if (!box.open || box.querySelector("pre")) return;
    const text = events.map((event) => JSON.stringify(event, null, 2)).join("\n");
    box.append(el("pre", { tabindex: "0", role: "group", "aria-label": t("event", { n: count(events[0].seq ?? 0) }) }, told(text, { more: t("show_all"), tag: "code" })));
  });
  return box;
}
