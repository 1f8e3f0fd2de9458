// list.js - lists that one walks through with the keyboard.
//
// A roving tabindex: Tab comes to a list once, then arrows, j and k move in it. keys.js moves in the
// first such list when the focus is in none.

const kList = "[data-roving]";
const kItem = "[data-item]";

/**
 * Makes `list` walkable: its items are the elements with `data-item`. Call it again when they
 * change.
 * @param {HTMLElement} list
 */
export function roving(list) {
  if (!list.hasAttribute("data-roving")) {
    list.setAttribute("data-roving", "");
    list.addEventListener("keydown", onKey);
    list.addEventListener("focusin", (event) => {
      const item = event.target.closest(kItem);
      if (item) {
        choose(list, item);
      }
    });
  }
  const items = [...list.querySelectorAll(kItem)];
  choose(list, items.find((item) => item.getAttribute("tabindex") === "0") ?? items[0]);
}

/**
 * Moves the focus by `step` items.
 * @returns {boolean} whether there was a list to move in
 */
export function moveInList(step) {
  const active = document.activeElement;
  const list = active?.closest(kList) ?? document.querySelector(`main ${kList}`);
  const items = list ? visibleItems(list) : [];
  if (items.length === 0) {
    return false;
  }
  const at = items.indexOf(active?.closest(kItem));
  const start = items.findIndex((item) => item.getAttribute("tabindex") === "0");
  const to = at < 0 ? Math.max(0, start) : Math.min(items.length - 1, Math.max(0, at + step));
  items[to].focus();
  items[to].scrollIntoView({block: "nearest"});
  return true;
}

/** @returns {HTMLElement|null} the row (<li>, <tr>, …) of the item that has the focus. */
export function focusedRow() {
  const item = document.activeElement?.closest(kItem);
  return item?.closest("li, tr, [data-id]") ?? null;
}

function visibleItems(list) {
  return [...list.querySelectorAll(kItem)].filter((item) => item.offsetParent !== null);
}

function choose(list, chosen) {
  for (const item of list.querySelectorAll(kItem)) {
    item.setAttribute("tabindex", item === chosen ? "0" : "-1");
  }
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !event.target.matches(kItem)) {
    return;
  }
  const steps = {ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity};
  if (event.key in steps && moveInList(steps[event.key])) {
    event.preventDefault();
  }
}
