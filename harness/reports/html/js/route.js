/* Where the reader is: the hash of the address names a part, a case and a step, and carries the filters. */
const PARTS = ["verdict", "matrix", "arena", "cases", "diff", "contracts", "recordings"];
const routes = {};
let current = { part: "verdict", path: [], query: new URLSearchParams() };

/** Take the hash apart; what is no address leads to the verdict. */
function parsed(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?", 2);
  let words;
  try {
    words = path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    words = [];
  }
  const [name, ...rest] = words.length ? words : ["verdict"];
  const part = name === "case" ? "cases" : name;
  return { part: PARTS.includes(part) ? part : "verdict", name, path: rest, query: new URLSearchParams(query ?? "") };
}

function navigate({ byReader }) {
  const before = current;
  current = parsed(location.hash);
  for (const name of PARTS) {
    const chosen = name === current.part;
    const tab = byId(`tab-${name}`);
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    byId(`panel-${name}`).hidden = !chosen;
  }
  byId(`tab-${current.part}`).scrollIntoView({ block: "nearest", inline: "nearest" });
  const panel = byId(`panel-${current.part}`);
  const same = before.part === current.part && before.name === current.name;
  routes[current.part]?.(panel, current, { before });
  if (!byReader || (same && current.name !== "case")) return;
  const inside = document.activeElement?.getAttribute("role") === "tab";
  if (!inside && !current.path.includes("step")) focusHeading(panel);
}

function focusHeading(panel) {
  const heading = panel.querySelector("h1");
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

/** Change the address without a new entry in the history. */
function replaceHash(hash) {
  history.replaceState(null, "", hash);
  current = parsed(hash);
}

function setTitle(text) {
  document.title = `${visible(text)} · ${index.run} · tapegate`;
}

function followTabs() {
  const list = document.querySelector('[role="tablist"]');
  list.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const place = PARTS.indexOf(current.part);
    const target =
      event.key === "Home" ? 0 : event.key === "End" ? PARTS.length - 1 : move ? (place + move + PARTS.length) % PARTS.length : -1;
    if (target < 0) return;
    event.preventDefault();
    byId(`tab-${PARTS[target]}`).focus();
    location.hash = `#/${PARTS[target]}`;
  });
}
