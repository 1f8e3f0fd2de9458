// theme.js - the button that changes the theme. /js/theme.js sets it before the first paint.
import {recall, remember} from "./memory.js";

const kThemes = ["auto", "light", "dark"];
const kSigns = {auto: "◐", light: "☀", dark: "☾"};

/** Makes `button` go through the themes; `announce` says which one it is. */
export function startTheme(button, announce) {
  let theme = recall("theme") ?? "auto";
  const show = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = kSigns[theme] ?? kSigns.auto;
    button.setAttribute("aria-label", `Theme: ${theme}`);
    button.title = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = kThemes[(kThemes.indexOf(theme) + 1) % kThemes.length];
    remember("theme", theme === "auto" ? null : theme);
    show();
    announce(`Theme: ${theme}`);
  });
  show();
}
