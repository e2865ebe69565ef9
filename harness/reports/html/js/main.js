/* The page begins. */
followTabs();
followKeys();
labelTheme();
byId("theme").addEventListener("click", changeTheme);
byId("copy-link").addEventListener("click", async (event) => {
  const button = event.currentTarget;
  if (await copy(location.href, "the link")) flash(button);
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    if (await copy(button.dataset.copy, "the command")) flash(button);
  });
}
window.addEventListener("hashchange", () => navigate({ byReader: true }));
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll('[role="tabpanel"]:not([hidden]) details:not(.raw)')) details.open = true;
});
navigate({ byReader: false });
