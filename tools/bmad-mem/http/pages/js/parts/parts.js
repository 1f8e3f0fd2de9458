// parts.js - the small parts that all pages share.
import {h} from "../dom.js";
import {path} from "../api.js";
import {headlineOf} from "./content.js";
import {sessionName} from "./session_names.js";

/** What is shown of each type of entry: name, and the sign that tells them apart without colour. */
export const kTypes = {
  conversation: {label: "Conversation", sign: "C"},
  decision: {label: "Decision", sign: "D"},
  finding: {label: "Finding", sign: "!"},
  preference: {label: "Preference", sign: "P"},
  fact: {label: "Fact", sign: "="},
  event: {label: "Event", sign: "E"},
  agent_state: {label: "Agent state", sign: "S"},
  artifact: {label: "Artifact", sign: "A"},
};

/** @returns {HTMLElement} the type as sign, colour and word; `short` leaves out the word. */
export function typeBadge(type, {short = false} = {}) {
  const {label, sign} = kTypes[type] ?? {label: type, sign: "?"};
  return h("span", {class: "type", dataset: {type}, title: short ? label : null},
    h("span", {class: "type-sign", "aria-hidden": "true"}, sign),
    h("span", {class: short ? "hidden" : "type-name"}, label));
}

const kUnits = [["year", 31536e6], ["month", 2628e6], ["week", 6048e5], ["day", 864e5],
  ["hour", 36e5], ["minute", 6e4]];
const relative = new Intl.RelativeTimeFormat("en", {numeric: "always"});

/** @returns {string} "3 hours ago"; "now" within a minute. */
export function ago(timestamp, now = Date.now()) {
  const past = new Date(timestamp).getTime() - now;
  for (const [unit, size] of kUnits) {
    if (Math.abs(past) >= size) {
      return relative.format(Math.trunc(past / size), unit);
    }
  }
  return "now";
}

/** @returns {string} "2026-01-11 10:05:23", in UTC like everywhere in bmad-mem. */
export function absolute(timestamp) {
  const at = new Date(timestamp);
  return Number.isNaN(at.getTime()) ? String(timestamp) : at.toISOString().slice(0, 19).replace("T", " ");
}

/** @returns {string} the same at the place of the reader: "2026-01-11 11:05:23". */
export function local(timestamp) {
  const at = new Date(timestamp);
  return Number.isNaN(at.getTime()) ? String(timestamp)
    : absolute(at.getTime() - at.getTimezoneOffset() * 60_000);
}

/** @returns {string} both, for a tooltip. */
export function bothTimes(timestamp) {
  return `${local(timestamp)} here, ${absolute(timestamp)} UTC`;
}

/** @returns {HTMLElement} the time of the reader to the second; UTC stands in its title. */
export function exactTime(timestamp) {
  return h("time", {datetime: timestamp, title: bothTimes(timestamp)}, local(timestamp));
}

/** @returns {string} "11 Jan 2026 – 3 Feb 2026", in the time of the reader; one day stands once. */
export function days(first, last) {
  const day = (at) => new Date(at).toLocaleDateString("en-GB", {day: "numeric", month: "short", year: "numeric"});
  const [from, to] = [day(first), day(last)];
  return from === to ? from : `${from} – ${to}`;
}

/** @returns {HTMLElement} how long ago; the exact time stands in its title, here and in UTC. */
export function time(timestamp) {
  if (!timestamp) {
    return h("span", {class: "muted"}, "–");
  }
  return h("time", {datetime: timestamp, title: bothTimes(timestamp)}, ago(timestamp));
}

/**
 * A meter with its label and number.
 * @param {number} value between 0 and 1
 * @param {string} label
 * @param {{text?: string, tone?: "accent"|"ok"|"warn"|"danger"}} [options] `text` stands instead of
 *   the percentage.
 */
export function bar(value, label, {text, tone = "accent"} = {}) {
  const share = Math.min(1, Math.max(0, Number(value) || 0));
  const shown = text ?? `${Math.round(share * 100)} %`;
  return h("div", {class: "bar", dataset: {tone}},
    h("span", {class: "bar-label"}, label),
    h("span", {class: "bar-track", role: "meter", "aria-label": label, "aria-valuemin": 0,
      "aria-valuemax": 1, "aria-valuenow": share.toFixed(3), "aria-valuetext": shown},
      h("span", {class: "bar-fill", vars: {"--share": `${share * 100}%`}})),
    h("span", {class: "bar-text"}, shown));
}

/** @returns {HTMLElement} says that there is nothing, and what to do about it. */
export function empty(title, ...hint) {
  return h("div", {class: "empty"}, h("p", {class: "empty-title"}, title),
    hint.length ? h("div", {class: "empty-hint"}, hint) : null);
}

/** @returns {HTMLElement} says what went wrong; `retry` gets a button. */
export function problem(error, retry) {
  return h("div", {class: "problem", role: "alert"},
    h("p", {}, h("strong", {}, error.code && error.code !== "unknown" ? error.code : "Error"), " ",
      error.message ?? String(error)),
    retry ? h("button", {type: "button", class: "button", onclick: retry}, "Try again") : null);
}

/** @returns {HTMLElement} stands where `lines` lines will be. */
export function skeleton(lines = 5) {
  return h("div", {class: "skeleton", role: "status", "aria-label": "Loading"},
    Array.from({length: lines}, () => h("span", {class: "skeleton-line"})));
}

/** @returns {HTMLElement} the top of a page: its h1, a line below it, and buttons. */
export function pageHead(title, {lead = null, actions = []} = {}) {
  return h("div", {class: "page-head"},
    h("div", {class: "page-title"}, h("h1", {tabindex: -1}, title),
      lead ? h("p", {class: "lead"}, lead) : null),
    actions.length ? h("div", {class: "actions"}, actions) : null);
}

/** @returns {HTMLElement} a button; `kind`: "primary", "danger", "quiet" or nothing. */
export function button(label, onclick, {kind = "", ...props} = {}) {
  return h("button", {type: "button", class: `button ${kind}`.trim(), onclick, ...props}, label);
}

/** @returns {string} where the page of an entry is. */
export function entryUrl(sessionId, id) {
  return path("entry", sessionId, id);
}

/** @returns {string} where the timeline of a session is. */
export function sessionUrl(sessionId) {
  return path("session", sessionId);
}

/** @returns {HTMLElement[]} "pinned", "sensitive", "yours", "said before" and the number of versions, where they apply. */
export function marks(entry) {
  return [
    entry.pinned ? h("span", {class: "chip chip-pin"}, "Pinned") : null,
    entry.sensitive ? h("span", {class: "chip chip-warn"}, "Sensitive") : null,
    entry.scope === "user" ? h("span", {class: "chip", title: "In your own memory, for all projects"}, "Yours") : null,
    entry.said_before ? h("span", {class: "chip", title: "A newer entry above says the same with another value"}, "Said before") : null,
    entry.versions > 1 ? h("span", {class: "chip"}, `${entry.versions} versions`) : null,
  ].filter(Boolean);
}

/**
 * One entry (or hit) as a line of a list. Give the <ul> to roving() of list.js.
 * @param {Object} entry Entry or Hit of the API
 * @param {{body?: Node, extra?: Node, showSession?: boolean}} [options] `body` stands instead of the
 *   headline, `extra` below it.
 * @returns {HTMLLIElement}
 */
export function entryRow(entry, {body = null, extra = null, showSession = true} = {}) {
  return h("li", {class: "row", dataset: {id: entry.id, session: entry.session_id}},
    h("a", {class: "row-link", href: entryUrl(entry.session_id, entry.id), "data-item": true},
      h("span", {class: "row-top"}, typeBadge(entry.type),
        entry.who ? h("span", {class: "row-who"}, entry.who) : null, marks(entry),
        h("span", {class: "row-time"}, time(entry.timestamp))),
      h("span", {class: "row-body"}, body ?? h("span", {class: "row-text"}, headlineOf(entry))),
      showSession ? h("span", {class: "row-foot"}, sessionName(entry.session_id)) : null),
    extra);
}

/** @returns {string} "12.3 KB"; powers of 1024. */
export function bytes(size) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = Number(size) || 0;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** @returns {string} the beginning of a text, where a style sheet can't end it: at most `size` letters. */
export function short(text, size) {
  const letters = [...String(text)];
  const kept = letters.slice(0, size - 1).join("").replace(/[\s…]+$/, "");
  return letters.length > size ? `${kept}…` : String(text);
}

/** @returns {string} "1 entry", "12 entries" */
export function count(n, one, many = `${one}s`) {
  return `${Number(n).toLocaleString("en")} ${n === 1 ? one : many}`;
}
