/* Commands by single keys; the list that `?` opens is in the page, and turns them off (WCAG 2.2, 2.1.4). */
let keysOn = remembered("tapegate-keys") !== "off";

function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    /* storage is closed to this page: it holds for as long as the page is open */
  }
}

const COMMANDS = {
  "/": () => document.querySelector('[role="tabpanel"]:not([hidden]) input[type="search"]')?.focus() ?? goTo("#/cases", () => byId("cases-q")?.focus()),
  j: () => moveIn(1),
  k: () => moveIn(-1),
  n: () => byId("trial-next")?.click(),
  p: () => byId("trial-previous")?.click(),
  r: nextRed,
  e: () => toggleStep(document.activeElement?.closest?.(".step")),
  E: toggleAll,
  c: () => copy(location.href, "the link"),
  t: changeTheme,
  "?": () => byId("help").showModal(),
};

function followKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape" && event.target.matches?.("input")) event.target.blur();
    if (event.target.matches?.("input, select, textarea") || byId("help").open || (!keysOn && event.key !== "?")) return;
    const part = /^[1-7]$/.test(event.key) ? PARTS[Number(event.key) - 1] : null;
    if (!part && !Object.hasOwn(COMMANDS, event.key)) return;
    event.preventDefault();
    if (part) goTo(`#/${part}`);
    else COMMANDS[event.key]();
  });
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("help-close").addEventListener("click", () => byId("help").close());
  const box = byId("keys-on");
  box.checked = keysOn;
  box.addEventListener("change", () => {
    keysOn = box.checked;
    remember("tapegate-keys", keysOn ? "on" : "off");
  });
}

function goTo(hash, then) {
  if (then) window.addEventListener("hashchange", () => setTimeout(then), { once: true });
  location.hash = hash;
}

/** Go to the next step of a timeline, or to the next row with a link. */
function moveIn(by) {
  const panel = document.querySelector('[role="tabpanel"]:not([hidden])');
  const steps = [...panel.querySelectorAll(".timeline > .step")].filter((step) => step.offsetParent !== null);
  const stops = steps.length ? steps : [...panel.querySelectorAll("tbody a, .red-title a")].filter((link) => link.offsetParent !== null);
  if (!stops.length) return;
  const here = stops.findIndex((stop) => stop.contains(document.activeElement) || stop.classList.contains("here"));
  const next = stops[Math.min(Math.max(here < 0 ? (by > 0 ? 0 : stops.length - 1) : here + by, 0), stops.length - 1)];
  for (const other of panel.querySelectorAll(".timeline > .here")) other.classList.remove("here");
  if (steps.length) {
    next.classList.add("here");
    replaceHash(next.querySelector(".seq").getAttribute("href"));
  }
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function nextRed() {
  const red = trials.filter((trial) => hasVerdict(trial, "red"));
  if (!red.length) {
    say("There is no red case.");
    return;
  }
  const here = shown && current.name === "case" ? red.findIndex((trial) => trial.number > shown.trial.number) : 0;
  location.hash = caseLink(red[Math.max(here, 0)]);
}

function toggleStep(step) {
  const details = step?.querySelector("details");
  if (details) details.open = !details.open;
}

function toggleAll() {
  const all = [...document.querySelectorAll(".timeline > .step > details")];
  const open = all.some((details) => !details.open);
  for (const details of all.slice(0, 2000)) details.open = open;
}

const THEMES = [["", "as the system has them"], ["light", "light"], ["dark", "dark"]];

function changeTheme() {
  const root = document.documentElement;
  const place = THEMES.findIndex(([name]) => name === (root.dataset.theme ?? ""));
  const [name, told] = THEMES[(place + 1) % THEMES.length];
  if (name) root.dataset.theme = name;
  else delete root.dataset.theme;
  remember("tapegate-theme", name);
  labelTheme();
  say(`Colours: ${told}`);
}

function labelTheme() {
  const told = THEMES.find(([name]) => name === (document.documentElement.dataset.theme ?? ""))[1];
  byId("theme").setAttribute("aria-label", `Colours: ${told}`);
  byId("theme").title = `Colours: ${told}`;
}
