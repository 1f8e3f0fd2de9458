// toast.js - short messages, with an action such as "Undo" for ten seconds.
import {h} from "../dom.js";

const kShownMs = 10000;

/**
 * Shows `text`. The time stands still while the pointer or the focus is on it.
 * @param {string} text
 * @param {{action?: string, onAction?: () => void, tone?: "danger"}} [options]
 */
export function showToast(text, {action = "", onAction = () => {}, tone = ""} = {}) {
  let timer = 0;
  const close = () => {
    clearTimeout(timer);
    toast.remove();
  };
  const start = () => (timer = setTimeout(close, kShownMs));
  const pause = () => clearTimeout(timer);
  const act = () => {
    close();
    onAction();
  };
  const toast = h("div", {class: "toast", dataset: {tone}, onmouseenter: pause, onmouseleave: start,
    onfocusin: pause, onfocusout: start,
    onkeydown: (event) => event.key === "Escape" && close()},
    h("span", {}, text),
    action ? h("button", {type: "button", class: "toast-action", onclick: act}, action) : null,
    h("button", {type: "button", class: "toast-close", "aria-label": "Dismiss", onclick: close}, "✕"));
  document.getElementById("toasts").append(toast);
  start();
}
