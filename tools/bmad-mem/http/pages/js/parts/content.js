// content.js - lays out what an entry holds: texts, numbers, lists, objects in objects.
import {h} from "../dom.js";
import {entryLink} from "./entry_names.js";
import {short} from "./parts.js";

const kDepthMax = 6;
const kItemsMax = 200;
const kLineMax = 300;
/** How many of its first letters find a text in its headline. */
const kBeginMin = 16;

/** The members that say what an entry is about, by type; the rest is about it. */
export const kMainFields = {
  conversation: ["content"],
  decision: ["decision", "rationale", "alternatives_considered"],
  finding: ["description", "evidence", "recommendation"],
  preference: ["value", "context"],
  fact: ["content"],
  event: ["content", "metadata"],
  agent_state: ["state"],
  artifact: ["title", "snippet"],
};

/** @returns {string} who said or did it; "user" and the like where no agent is named */
export function whoOf(entry) {
  return entry.who || entry.fields?.role || "";
}

/**
 * What an entry says, on a line. The server ends it after 100 letters; a line may have room for more.
 * @param {Object} entry Entry of the API
 * @returns {string} at most kLineMax letters
 */
export function headlineOf({headline, id, type, fields = {}}) {
  const text = String(fields[kMainFields[type]?.[0]] ?? "").replace(/\s+/g, " ").trim();
  const at = headline.endsWith("…") && text ? headline.indexOf(text.slice(0, kBeginMin)) : -1;
  return at < 0 ? headline || id : short(headline.slice(0, at) + text, kLineMax);
}

/** @returns {string} "alternatives considered" */
export function fieldLabel(name) {
  return name.replaceAll("_", " ");
}

/**
 * A value of JSON as elements.
 * @param {*} value
 * @returns {HTMLElement}
 */
export function laidOut(value, depth = 0) {
  if (typeof value === "string") {
    return h("div", {class: "text"}, value);
  }
  if (value === null || typeof value !== "object") {
    return h("code", {}, String(value));
  }
  if (depth >= kDepthMax) {
    return h("pre", {}, JSON.stringify(value, null, 2));
  }
  return Array.isArray(value) ? laidOutList(value, depth) : laidOutObject(value, depth);
}

function laidOutList(list, depth) {
  if (list.length === 0) {
    return h("span", {class: "muted"}, "none");
  }
  const isShort = list.every((one) => typeof one !== "object" && String(one).length <= 60);
  const rest = list.length > kItemsMax ? h("li", {class: "muted"}, `and ${list.length - kItemsMax} more`) : null;
  return h("ul", {class: isShort ? "values short" : "values"},
    list.slice(0, kItemsMax).map((one) => h("li", {class: isShort ? "chip" : null},
      isShort ? String(one) : laidOut(one, depth + 1))), rest);
}

function laidOutObject(object, depth) {
  const members = Object.entries(object);
  if (members.length === 0) {
    return h("span", {class: "muted"}, "empty");
  }
  return h("dl", {class: "members"}, members.slice(0, kItemsMax).map(([name, value]) =>
    h("div", {}, h("dt", {}, fieldLabel(name)), h("dd", {}, laidOut(value, depth + 1)))));
}

/**
 * What an entry is about, each part below its name where there are several.
 * @param {Object} entry Entry of the API
 * @param {{textMax?: number}} [options] Longer texts are cut there, and say so.
 * @returns {HTMLElement[]}
 */
export function mainContent(entry, {textMax = Infinity} = {}) {
  const present = (kMainFields[entry.type] ?? []).filter((name) => entry.fields?.[name] !== undefined);
  return present.map((name, index) => h("div", {class: "part"},
    index > 0 ? h("span", {class: "part-name"}, fieldLabel(name)) : null, bounded(entry.fields[name], textMax)));
}

function bounded(value, textMax) {
  if (typeof value !== "string" || value.length <= textMax) {
    return laidOut(value);
  }
  return [laidOut(value.slice(0, textMax)),
    h("p", {class: "muted small"}, `… and ${(value.length - textMax).toLocaleString("en")} characters more; open the entry to read on.`)];
}

/**
 * What an entry refers to, as links. Most lie in its own session; the page of an entry looks in
 * the others for those that don't.
 * @returns {HTMLElement|null}
 */
export function references(entry) {
  const given = entry.fields?.references;
  const ids = Array.isArray(given) ? given : Object.values(given ?? {}).flat();
  const known = ids.filter((id) => typeof id === "string").slice(0, kItemsMax);
  if (known.length === 0) {
    return null;
  }
  return h("ul", {class: "refs small"}, known.map((id) =>
    h("li", {class: "one-line"}, h("span", {class: "muted"}, "Refers to "), entryLink(entry.session_id, id))));
}
