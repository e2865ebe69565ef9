/* The page of one trial: what was asked and answered, what the contracts found, and the timeline. */
let shown = null;

async function showCase(panel, route) {
  const at = route.path.indexOf("step");
  const place = at < 0 ? route.path : route.path.slice(0, at);
  const trial = trialsByLink.get(`#/case/${place.map(segment).join("/")}`);
  const step = at < 0 ? "" : (route.path[at + 1] ?? "");
  if (!trial) {
    shown = null;
    panel.replaceChildren(el("h1", { tabindex: "-1" }, "No such trial"), el("p", {}, "This run has no trial at this address. ", el("a", { href: "#/cases" }, "All cases")));
    return;
  }
  setTitle(`${trial.case} · ${designName(trial)}`);
  if (shown?.trial !== trial || !panel.contains(shown.head)) {
    const head = caseHead(trial);
    const body = el("div", { class: "case-body" }, el("p", { class: "note" }, "Unpacking the trace …"));
    shown = { trial, head };
    panel.replaceChildren(head, body);
    try {
      const view = await unpack(trial.chunk, trial.place);
      if (shown?.trial !== trial) return;
      body.replaceChildren(...caseBody(trial, view));
    } catch (error) {
      body.replaceChildren(el("p", { class: "banner", role: "alert" }, error.message));
      return;
    }
  }
  if (step) openStep(step);
}

function caseHead(trial) {
  const place = listed.indexOf(trial);
  const around = [["previous", listed[place - 1]], ["next", listed[place + 1]]];
  const others = trials.filter((other) => other.asked === trial.asked && other.number !== trial.number);
  return el("header", { class: "case-head" },
    el("nav", { class: "case-nav no-print", "aria-label": "Trials" },
      el("a", { href: "#/cases" }, "All cases"),
      around.map(([word, other]) => place >= 0 && other && el("a", { href: caseLink(other), id: `trial-${word}` }, `${word}: ${other.case}`)),
      copyButton(() => location.href, "the link to this trial", "copy link"),
    ),
    el("h1", { tabindex: "-1" }, trial.case, trial.trial ? `, trial ${trial.trial}` : "", " ", el("span", { class: "note" }, trial.set)),
    el("p", { class: "case-line" }, mark(trial.verdict, trial.known), " ", designName(trial), " ", answered(trial.provenance), trial.fault && [" with fault ", shortText(trial.fault)]),
    others.length > 0 && el("details", { class: "others no-print", open: others.length <= 12 }, el("summary", {}, `The same case elsewhere (${others.length})`),
      el("ul", { class: "chips" }, others.slice(0, 60).map((other) =>
        el("li", {}, el("a", { href: caseLink(other) }, mark(other.verdict, other.known), ` ${designName(other)}${other.trial ? ` · ${other.trial}` : ""}`))))),
  );
}

function caseBody(trial, view) {
  const left = el("div", { class: "case-told" },
    view.because && el("section", {}, el("h2", {}, "Why it could not be checked"), el("p", { class: "note" }, shortText(view.code)), longText(view.because)),
    el("section", {}, el("h2", {}, "Question"), view.question ? longText(view.question, { kind: "div" }) : el("p", { class: "note" }, "not known: no trace says it")),
    el("section", {}, el("h2", {}, "Answer"), view.answer ? answerBox(view.answer) : el("p", { class: "note" }, "none")),
    findingsOf(trial, view.findings),
    differencesOf(trial),
    originOf(trial, view),
  );
  const right = el("div", { class: "case-timeline" }, view.trouble && el("p", { class: "banner", role: "alert" }, view.trouble), timelineOf(trial, view));
  return [left, right];
}

let differences;

/** The differences in this file that a trial is one side of. */
function differencesOf(trial) {
  if (!differences) {
    differences = new Map();
    index.diffs.forEach((diffs, which) => diffs.pairs.forEach((pair, place) => {
      const sides = diffs.kind === "run" ? [[pair.b, pair.a]] : [[pair.a, pair.b], [pair.b, pair.a]];
      for (const [side, other] of sides) {
        const link = caseLink(side);
        differences.set(link, [...(differences.get(link) ?? []), { pair, other, href: `#/diff/${which}/${place}`, run: diffs.kind === "run" && diffs.a }]);
      }
    }));
  }
  const found = differences.get(caseLink(trial)) ?? [];
  return found.length > 0 && el("section", { class: "no-print" }, el("h2", {}, "How it differs"), el("ul", { class: "chips" }, found.map(({ pair, other, href, run }) => {
    const name = [run ? `run ${run}` : designName(other), " ", el("span", { class: "note" }, pair.unread ? "no trace to compare" : pair.same ? "the same" : countsOf(pair.counts))];
    return el("li", {}, mark(other.verdict, other.known), " ", pair.chunk === undefined ? name : el("a", { href }, name));
  })));
}

const STATES = [["broken", "Broken"], ["could_not_check", "Could not check"], ["kept", "Kept"], ["vacuous", "Vacuous: nothing triggered them"]];

function findingsOf(trial, findings) {
  const groups = STATES.map(([state, title]) => [state, title, findings.filter((finding) => finding.state === state)]);
  return el("section", {}, el("h2", {}, "Contracts"), groups.filter(([, , found]) => found.length).map(([state, title, found]) => {
    const grave = state === "broken" || state === "could_not_check";
    const list = grave
      ? el("ul", { class: "findings" }, found.map((finding) => findingItem(trial, finding)))
      : el("p", { class: "names" }, found.map((finding) => el("code", {}, finding.contract)));
    return el("details", { open: grave }, el("summary", {}, `${title} (${found.length})`), list);
  }));
}

function findingItem(trial, finding) {
  const steps = (seqs) => seqs.slice(0, 40).map((seq) => [el("a", { href: caseLink(trial, seq, finding.leg ?? 0), "aria-label": `step ${seq}` }, `#${seq}`), " "]);
  return el("li", {},
    el("p", {}, el("code", { class: "rule" }, finding.contract), finding.advisory && el("span", { class: "note" }, " advisory"), " ", shortText(finding.because)),
    el("p", { class: "note" },
      finding.turn !== undefined && finding.turn !== null && `turn ${finding.turn} `,
      finding.leg > 0 && `leg ${finding.leg} `,
      finding.witness?.length > 0 && ["shown by ", steps(finding.witness)],
      finding.shortest?.length > 0 && ["shortest ", steps(finding.shortest)],
      finding.judged_by && [`judged by ${finding.judged_by} `],
      finding.at && ["at ", shortCode(finding.at)],
    ),
  );
}

function originOf(trial, view) {
  const lock = Object.entries(view.lock ?? {}).filter(([, digest]) => digest);
  const lines = [
    ["answered by", answered(trial.provenance)],
    ["embeddings", view.embeddings !== "none" && answered(view.embeddings)],
    ["ended", view.status && shortText(`${view.status}${view.reason ? `: ${view.reason}` : ""}`)],
    ["tokens", `${figure(view.tokens.input)} in, ${figure(view.tokens.output)} out${view.tokens.thinking ? `, ${figure(view.tokens.thinking)} of it thinking` : ""}${view.tokens.cached ? `, ${figure(view.tokens.cached)} cached` : ""}`],
    ["calls", `${trial.llm_calls} of models, ${trial.tool_calls} of tools`],
    ["time", `${figure(view.recorded_ms)} ms recorded, ${figure(view.replay_ms)} ms replayed`],
    ["cost", view.cost_usd === null ? "not priced" : `$${view.cost_usd.toFixed(6)}`],
    ["cassette", view.cassette && shortCode(view.cassette)],
    ["its answers", view.cassette_digest && shortCode(view.cassette_digest)],
    ["golden case", view.at && shortCode(view.at)],
    ["drift", view.drift && shortText(view.drift)],
    ["made from", lock.length > 0 && el("span", {}, lock.map(([name, digest]) => [`${name} `, el("code", {}, digest), " "]))],
  ];
  return el("section", {}, el("h2", {}, "Where it comes from"), el("dl", { class: "origin" }, lines.filter(([, told]) => told).map(([name, told]) => [el("dt", {}, name), el("dd", {}, told)])));
}
