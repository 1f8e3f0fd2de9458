// timeline_rows.js - the entries of a timeline, day by day.
import {h} from "../dom.js";
import {bothTimes, button, entryUrl, local, marks, typeBadge} from "./parts.js";
import {headlineOf, mainContent, references, whoOf} from "./content.js";

// A log of a build may be long; a timeline is for reading across.
const kTextMax = 3000;
const kFolded = new Set(["tool_use", "tool_result"]);

/**
 * Shows `entries` in `list`, oldest first, with a heading before each day. Most come in order; one
 * that doesn't goes to its place.
 * @param {HTMLElement} list a <div>; gets one <section> a day
 * @param {Object[]} entries
 * @param {{onDocument: (entry: Object) => void}} actions
 */
export function showEntries(list, entries, actions) {
  for (const entry of entries) {
    const rows = daySection(list, local(entry.timestamp).slice(0, 10)).querySelector("ol");
    let next = null;
    for (let row = rows.lastElementChild; row && isLater(row.dataset.time, entry.timestamp); row = row.previousElementSibling) {
      next = row;
    }
    rows.insertBefore(timelineRow(entry, actions), next);
  }
}

/**
 * Notes where somebody reads in `list`, what is folded and what has the focus.
 * @returns {() => void} to be called when its entries were shown anew
 */
export function keepView(list) {
  const rows = [...list.querySelectorAll("li.event")].map((row) => ({
    id: row.id, isOpen: row.firstElementChild.open, hasFocus: row.contains(document.activeElement),
    ...placeOf(row)}));
  return () => {
    for (const {id, isOpen, hasFocus} of rows) {
      const row = document.getElementById(id);
      if (row) {
        row.firstElementChild.open = isOpen;
      }
      if (hasFocus) {
        row?.querySelector("summary").focus({preventScroll: true});
      }
    }
    const anchor = rows.find(({id, bottom}) => bottom > 0 && document.getElementById(id));
    if (anchor) {
      scrollBy(0, placeOf(document.getElementById(anchor.id)).top - anchor.top);
    }
  };
}

function placeOf(row) {
  const {top, bottom} = row.getBoundingClientRect();
  return {top, bottom};
}

function isLater(one, other) {
  return Date.parse(one) > Date.parse(other);
}

/** The section of `day` ("2026-01-11"), made where there is none. */
function daySection(list, day) {
  let section = list.lastElementChild;
  while (section && section.dataset.day > day) {
    section = section.previousElementSibling;
  }
  if (section?.dataset.day === day) {
    return section;
  }
  const made = h("section", {class: "day", dataset: {day}, "aria-label": day}, h("h2", {}, dayName(day)),
    h("ol", {class: "events"}));
  list.insertBefore(made, section ? section.nextElementSibling : list.firstElementChild);
  return made;
}

function dayName(day) {
  const at = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(at.getTime()) ? day
    : at.toLocaleDateString("en-GB", {weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC"});
}

/** An event's headline begins with what stands in front of it here. */
function shortHeadline(entry) {
  const headline = headlineOf(entry);
  const what = [entry.fields?.kind, entry.fields?.tool].filter(Boolean).join(" ");
  return what && headline.startsWith(`${what}:`) ? headline.slice(what.length + 1).trim()
    : what && headline.startsWith(`${what} `) ? headline.slice(what.length + 1) : headline;
}

/**
 * One entry that folds; what tools were asked and answered is folded until somebody looks.
 * @returns {HTMLLIElement}
 */
export function timelineRow(entry, {onDocument}) {
  const kind = entry.fields?.kind;
  const what = [kind, entry.fields?.tool].filter(Boolean).join(" · ");
  const details = h("details", {},
    h("summary", {"data-item": true},
      h("span", {class: "event-time", title: bothTimes(entry.timestamp)}, local(entry.timestamp).slice(11, 16)),
      typeBadge(entry.type),
      h("span", {class: "row-who"}, [whoOf(entry), what].filter(Boolean).join(" · ")), marks(entry),
      h("span", {class: "event-headline"}, shortHeadline(entry))),
    h("div", {class: "event-body"},
      entry.fields?.path && entry.type === "event" ? h("p", {class: "mono muted"}, entry.fields.path) : null,
      mainContent(entry, {textMax: kTextMax}), references(entry),
      entry.type === "artifact" ? h("p", {class: "event-links"},
        button("Read the document", () => onDocument(entry), {kind: "small"})) : null));
  details.open = !kFolded.has(kind);
  return h("li", {class: "event", id: `at-${entry.id}`,
    dataset: {id: entry.id, session: entry.session_id, type: entry.type, time: entry.timestamp, kind}}, details,
    h("a", {href: entryUrl(entry.session_id, entry.id), class: "event-open", "aria-label": `Open entry ${entry.id}`}, "Open"));
}
