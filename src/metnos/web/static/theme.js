// Runs before the first paint, so that the page never flashes in the wrong theme. Kept small for that reason.
(() => {
  try {
    const theme = localStorage.getItem("metnos-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch { /* a browser that keeps nothing: the theme is the system's */ }
  document.documentElement.dataset.scripts = "yes";
})();
