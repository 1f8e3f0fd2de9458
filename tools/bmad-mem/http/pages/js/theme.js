// theme.js - sets the remembered theme before the first paint.
//
// A classic script, since modules run after the page was parsed. js/parts/theme.js changes the theme.
"use strict";
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem("bmad-mem.theme");
  } catch {
    // A browser that keeps nothing gets the theme of the system.
  }
  document.documentElement.dataset.theme = theme === "light" || theme === "dark" ? theme : "auto";
})();
