// Runs before anything is painted: the theme and language that were chosen, so that nothing flashes.
(() => {
  const read = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  const root = document.documentElement;
  const theme = read("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const chosen = read("lang");
  const lang = chosen === "zh" || chosen === "en" ? chosen : (navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en";
  root.lang = lang === "zh" ? "zh-CN" : "en";
  root.dataset.lang = lang;
})();
