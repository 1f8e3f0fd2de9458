// keys.js - the shortcuts: one key, or `g` and then another.
//
// They rest while one writes, while a dialog is open and when they are switched off (some people's
// speech input types letters).
import {h} from "../dom.js";
import {moveInList} from "./list.js";
import {openDialog} from "./dialog.js";
import {recall, remember} from "./memory.js";

const kSwitch = "shortcuts";
const kSequenceMs = 1500;

const everywhere = [];
let ofPage = [];
let pending = "";
let pendingTimer = 0;

/** Adds shortcuts of the whole window: [{keys: "g s", text: "Go to Search", run}]. */
export function addKeys(shortcuts) {
  everywhere.push(...shortcuts);
}

/** Sets the shortcuts of the page that is shown; they win over those of the window. */
export function setPageKeys(shortcuts) {
  ofPage = shortcuts;
}

/** Begins to listen. */
export function startKeys() {
  addKeys([
    {keys: "j", text: "Next in the list", run: () => moveInList(1)},
    {keys: "k", text: "Previous in the list", run: () => moveInList(-1)},
    {keys: "?", text: "Show all keys", run: showKeys},
  ]);
  document.addEventListener("keydown", onKey);
}

function isOn() {
  return recall(kSwitch) !== "off";
}

function isWriting(target) {
  return target.closest?.("input, textarea, select, [contenteditable]") !== null;
}

/** A field for a search is emptied, as some browsers do of themselves; what was typed elsewhere stays. */
function leaveField(field) {
  if (field.type === "search" && field.value !== "") {
    field.value = "";
    field.dispatchEvent(new Event("input", {bubbles: true}));
  }
  field.blur();
}

function onKey(event) {
  if (event.key === "Escape" && isWriting(event.target) && !event.defaultPrevented && !event.target.closest("dialog")) {
    leaveField(event.target);
    return;
  }
  const busy = event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey;
  if (busy || !isOn() || isWriting(event.target) || document.querySelector("dialog[open]")) {
    return;
  }
  const wanted = pending ? `${pending} ${event.key}` : event.key;
  pending = "";
  clearTimeout(pendingTimer);
  const all = [...ofPage, ...everywhere];
  const found = all.find(({keys}) => keys === wanted);
  if (found) {
    event.preventDefault();
    found.run(event);
  } else if (all.some(({keys}) => keys.startsWith(`${wanted} `))) {
    pending = wanted;
    pendingTimer = setTimeout(() => (pending = ""), kSequenceMs);
  }
}

/** Opens the dialog with all keys, and the switch. */
export function showKeys() {
  const isOnNow = h("input", {type: "checkbox", id: "keys-on",
    onchange: (event) => remember(kSwitch, event.target.checked ? "on" : "off")});
  isOnNow.checked = isOn();
  const fixed = [
    {keys: "↑ ↓", text: "Move in a list"},
    {keys: "Enter", text: "Open"},
    {keys: "Esc", text: "Close, or leave a field"},
  ];
  openDialog({
    title: "Keys",
    body: [
      ofPage.length ? [h("h3", {}, "On this page"), table(ofPage)] : null,
      h("h3", {}, "Everywhere"), table([...everywhere, ...fixed]),
      h("p", {class: "check"}, isOnNow, h("label", {for: "keys-on"}, "Shortcuts are on")),
    ],
  });
}

function table(shortcuts) {
  return h("dl", {class: "keys"}, shortcuts.map(({keys, text}) => h("div", {},
    h("dt", {}, keys.split(" ").map((key) => h("kbd", {}, key))), h("dd", {}, text))));
}
