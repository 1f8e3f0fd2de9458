// dialog.js - questions and panels above the page. <dialog> keeps the focus inside, and gives it back.
import {h} from "../dom.js";

let last = 0;

/**
 * Opens a modal dialog.
 * @param {{title: string, body: *, buttons?: Node[], wide?: boolean, onClose?: (value: string) => void}}
 *   what `body` as children of h(). Buttons with a `value` close it through their form.
 * @returns {HTMLDialogElement}
 */
export function openDialog({title, body, buttons = [], wide = false, onClose = () => {}}) {
  last += 1;
  const id = `dialog-${last}`;
  const dialog = h("dialog", {class: wide ? "dialog wide" : "dialog", "aria-labelledby": id},
    h("form", {method: "dialog", class: "dialog-form"},
      h("header", {class: "dialog-head"}, h("h2", {id}, title),
        h("button", {class: "tool", value: "", "aria-label": "Close", formnovalidate: true}, "✕")),
      h("div", {class: "dialog-body", tabindex: wide ? 0 : null, role: wide ? "region" : null,
        "aria-labelledby": wide ? id : null}, body),
      buttons.length ? h("footer", {class: "dialog-foot"}, buttons) : null));
  dialog.addEventListener("close", () => {
    dialog.remove();
    onClose(dialog.returnValue);
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) {
      dialog.close("");  // A click beside it, on the backdrop.
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Asks before something is done.
 * @param {{title: string, text: *, action: string, danger?: boolean}} what `text` as children of h()
 * @returns {Promise<boolean>} whether `action` was chosen
 */
export function confirmDialog({title, text, action, danger = false}) {
  return new Promise((resolve) => {
    const yes = h("button", {class: danger ? "button danger" : "button primary", value: "yes"}, action);
    const no = h("button", {class: "button", value: ""}, "Cancel");
    openDialog({title, body: [text].flat().map((part) => (part instanceof Node ? part : h("p", {}, part))),
      buttons: [no, yes], onClose: (value) => resolve(value === "yes")});
    (danger ? no : yes).focus();
  });
}
