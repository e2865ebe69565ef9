/* A trace as a list of steps: what happened when, in one line each, and all of it on request. */
const KINDS = {
  model: ["llm_call", "llm_result"],
  stream: ["stream", "progress"],
  tools: ["tool_call", "tool_result"],
  thinking: ["thinking"],
  plan: ["plan_updated"],
  verification: ["verification", "solution"],
  answer: ["final_answer"],
  state: ["state_saved", "state_loaded", "config_resolved", "phase_started", "phase_finished"],
  trouble: ["error", "warning", "fallback_used"],
  trial: ["trial_started", "trial_finished"],
};
const KIND_OF = Object.fromEntries(Object.entries(KINDS).flatMap(([kind, types]) => types.map((type) => [type, kind])));

const tokensOf = (usage) => (usage ? `${figure(usage.input ?? 0)} → ${figure(usage.output ?? 0)} tokens` : "");
const firstLine = (text) => {
  const line = String(text ?? "").trim().split("\n", 1)[0];
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
};
const quoted = (value) => firstLine(JSON.stringify(value) ?? "");

/** What each type of event says in one line. */
const LINES = {
  trial_started: (data) => `${data.system}, ${data.lang || "no language"}, ${data.config?.tools?.length ?? 0} tools offered`,
  config_resolved: (data) => `${data.key}: asked ${quoted(data.asked ?? null)}, used ${quoted(data.used ?? null)}`,
  phase_started: (data) => `${data.name} begins${data.attempt ? `, attempt ${data.attempt}` : ""}`,
  phase_finished: (data) => `${data.name} ends${data.ok ? "" : ", not ok"}${data.reason ? `: ${data.reason}` : ""}`,
  llm_call: (data) => `${data.purpose}${data.stage ? `/${data.stage}` : ""} asks ${data.model}: ${data.n_messages} messages, ${data.tools?.length ?? 0} tools`,
  llm_result: (data) => [
    data.error ? firstLine(`fails: ${data.error.kind} ${data.error.message}`) : firstLine(data.text) || (data.tool_calls?.length ? firstLine(`asks for ${data.tool_calls.map((call) => call.name).join(", ")}`) : "says nothing"),
    el("span", { class: "note" }, ` ${tokensOf(data.usage)} · ${figure(data.ms ?? 0)} ms`),
  ],
  stream: (data) => [`${data.channel ?? "text"} in ${data.pieces.length} pieces: `, firstLine(data.pieces.map((piece) => piece[2]).join(""))],
  thinking: (data) => (data.redacted ? "redacted" : firstLine(data.text)),
  tool_call: (data) => [el("strong", {}, firstLine(data.tool)), ` ${data.args === null || data.args === undefined ? firstLine(data.args_raw) : quoted(data.args)}`],
  tool_result: (data) => [el("strong", {}, firstLine(data.tool)), data.ok ? " → " : ` fails (${data.error_kind ?? "?"}): `, firstLine(data.text)],
  plan_updated: (data) => `${data.action}: ${data.plan.filter((step) => step.status === "DONE").length} of ${data.plan.length} done`,
  solution: (data) => `version ${data.version}, ${data.origin}, ${figure(data.chars)} characters: ${firstLine(data.preview)}`,
  verification: (data) => `${data.verdict}, check ${data.index + 1} of ${data.of}, round ${data.round}${data.issues?.length ? `: ${data.issues.length} issues` : ""}`,
  progress: (data) => `${data.stage} ${Math.round(data.value * 100)} %${data.message ? `: ${data.message}` : ""}`,
  fallback_used: (data) => `${data.origin} → ${data.to}: ${data.reason}`,
  warning: (data) => `${data.code}: ${firstLine(data.detail)}`,
  error: (data) => `${data.kind}: ${firstLine(data.message)}`,
  final_answer: (data) => firstLine(data.text),
  trial_finished: (data) => `${data.status}${data.reason ? `: ${data.reason}` : ""}, ${figure(data.ms ?? 0)} ms`,
  state_saved: (data) => `state ${data.digest}`,
  state_loaded: (data) => `state ${data.digest}`,
};

function lineOf(event) {
  const said = LINES[event.type]?.(event.data) ?? quoted(event.data);
  return typeof said === "string" ? firstLine(said) : said;
}

/** What stands below the line, where there is more to say than the data themselves. */
const DETAILS = {
  llm_result: (data) => [
    data.text && longText(data.text),
    (data.tool_calls ?? []).map((call) => el("div", { class: "asked" }, el("strong", {}, firstLine(call.name)), longText(call.args ? JSON.stringify(call.args, null, 2) : call.args_raw))),
  ],
  thinking: (data) => data.text && longText(data.text),
  tool_call: (data) => (data.args ? json(data.args) : longText(data.args_raw ?? "")),
  tool_result: (data) => longText(data.text ?? ""),
  final_answer: (data) => longText(data.text),
  solution: (data) => data.preview && longText(data.preview),
  error: (data) => longText(data.message),
  warning: (data) => data.detail && longText(data.detail),
  stream: (data) => el("ol", { class: "pieces" }, data.pieces.slice(0, 500).map(([seq, ts, text, seen]) =>
    el("li", { value: seq }, el("span", { class: "note" }, `+${figure(ts)} ms${seen ? ", shown" : ""} `), longText(JSON.stringify(text).slice(1, -1), { kind: "code", limit: 400 }))),
    data.pieces.length > 500 && el("li", { class: "note" }, `and ${figure(data.pieces.length - 500)} more`)),
  plan_updated: (data) => el("ol", { class: "plan" }, data.plan.map((step) => el("li", { value: step.n, class: step.status === "DONE" ? "done" : "" }, shortText(step.text), " ", el("span", { class: "note" }, step.status.toLowerCase())))),
  verification: (data) => el("ul", { class: "issues" }, (data.issues ?? []).map((issue) => el("li", {}, el("strong", {}, issue.severity), " ", shortText(issue.where), " ", shortText(issue.what)))),
};

function timelineOf(trial, view) {
  const steps = view.legs.flatMap((events, leg) => events.map((event) => ({ ...event, leg })));
  const witnesses = witnessesOf(view.findings);
  const list = el("ol", { class: "timeline" });
  let leg = -1;
  for (const event of steps) {
    if (event.leg !== leg && view.legs.length > 1) list.append(el("li", { class: "leg" }, `Leg ${event.leg}`));
    leg = event.leg;
    list.append(stepItem(trial, event, witnesses));
  }
  const kinds = Object.keys(KINDS).map((kind) => [kind, steps.filter((event) => (KIND_OF[event.type] ?? "trial") === kind).length]);
  const boxes = kinds.filter(([, count]) => count).map(([kind, count]) => {
    const box = el("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => list.classList.toggle(`without-${kind}`, !box.checked));
    return el("label", { class: `kind ${kind}` }, box, ` ${kind} ${count}`);
  });
  return el("section", {}, el("h2", {}, "Timeline ", el("span", { class: "note" }, `${figure(steps.length)} steps`)),
    steps.length > 0 && el("div", { class: "kinds no-print", role: "group", "aria-label": "Kinds of steps to show" }, boxes), list);
}

function witnessesOf(findings) {
  const found = new Map();
  for (const finding of findings.filter((each) => each.state === "broken" || each.state === "could_not_check")) {
    for (const seq of finding.witness ?? []) {
      const key = `${finding.leg ?? 0}.${seq}`;
      found.set(key, [...(found.get(key) ?? []), finding.contract]);
    }
  }
  return found;
}

function stepItem(trial, event, witnesses) {
  const kind = KIND_OF[event.type] ?? "trial";
  const name = `${event.leg}.${event.seq}`;
  const covered = event.type === "stream" ? event.data.pieces.map((piece) => `${event.leg}.${piece[0]}`) : [name];
  const shows = [...new Set(covered.flatMap((each) => witnesses.get(each) ?? []))];
  const details = el("details", {}, el("summary", {},
    el("span", { class: "when" }, `+${figure(event.ts)} ms`),
    el("span", { class: "what" }, event.type.replaceAll("_", " ")),
    el("span", { class: "line told" }, lineOf(event)),
    shows.map((contract) => el("span", { class: "mark broken" }, `witness of ${contract}`)),
  ));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(stepDetails(trial, event));
  });
  const failed = event.type === "error" || event.data.ok === false || event.data.error;
  const item = el("li", { class: `step ${kind}${shows.length ? " witness" : ""}${failed ? " failed" : ""}`, id: `step-${name}`, tabindex: "-1" },
    el("a", { class: "seq", href: caseLink(trial, event.seq, event.leg), "aria-label": `Link to step ${event.seq}` }, `#${event.seq}`), details);
  item.dataset.covers = covered.length > 1 ? ` ${covered.join(" ")} ` : "";
  return item;
}

function stepDetails(trial, event) {
  const facts = [["turn", event.turn], ["round", event.round], ["phase", event.phase]].filter(([, value]) => value !== undefined);
  const own = DETAILS[event.type]?.(event.data);
  const all = el("details", { class: "raw" }, el("summary", {}, "all data"));
  all.addEventListener("toggle", () => all.open && all.children.length === 1 && all.append(json(event.data)));
  return el("div", { class: "step-body" },
    el("p", { class: "note" }, facts.map(([word, value]) => `${word} ${value}  `), copyButton(() => location.href.split("#")[0] + caseLink(trial, event.seq, event.leg), `the link to step ${event.seq}`, "copy link")),
    own, event.type === "stream" ? null : own ? all : json(event.data));
}

/** Open the step that an address names, as `12` or `leg.12`, and go there. */
function openStep(step) {
  const name = step.includes(".") ? step : `0.${step}`;
  const item = byId(`step-${name}`) ?? [...document.querySelectorAll(".timeline > li.step")].find((each) => each.dataset.covers.includes(` ${name} `));
  if (!item) {
    say(`There is no step ${step} in this trace.`);
    return;
  }
  for (const other of document.querySelectorAll(".timeline > .here")) other.classList.remove("here");
  item.classList.add("here");
  item.querySelector("details").open = true;
  item.focus({ preventScroll: true });
  item.scrollIntoView({ block: "center" });
}
