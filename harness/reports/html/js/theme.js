/* The colours that a reader chose before are there from the first paint on. */
(() => {
  try {
    const theme = localStorage.getItem("tapegate-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    /* storage is closed to this page: the system's colours it is */
  }
})();
