// versions.js - the versions of an entry, newest first, and what each changed.
import {h} from "../dom.js";
import {exactTime, time} from "./parts.js";
import {fieldLabel, laidOut} from "./content.js";

/**
 * What differs between two versions, member by member.
 * @param {Object} before
 * @param {Object} after
 * @returns {{name: string, before: *, after: *}[]} undefined: it isn't there.
 */
export function differences(before, after) {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => ({name, before: before[name], after: after[name]}));
}

/**
 * @param {Object[]} versions Entry of the API, oldest first
 * @returns {HTMLElement}
 */
export function versionList(versions) {
  const items = versions.map((version, index) => h("li", {class: "version"},
    h("details", {open: index === versions.length - 1 && index > 0},
      h("summary", {}, h("strong", {}, `Version ${index + 1}`), " ",
        h("span", {class: "muted small"}, time(writtenAt(version)), ` · line ${version.line}`)),
      index === 0 ? firstVersion(version) : changes(versions[index - 1], version))));
  return h("ol", {class: "versions", reversed: true}, items.reverse());
}

/** An entry keeps the time of what it tells; its versions say when they were written. */
function writtenAt(version) {
  const {updated_at: stated = version.timestamp, written_at: written = stated} = version.fields;
  return new Date(written) > new Date(stated) ? written : stated;
}

function firstVersion(version) {
  const {decay_factor: _, ...fields} = version.fields;  // A snapshot, which says nothing today.
  return h("div", {class: "version-body"}, h("p", {class: "muted small"},
    "First written ", exactTime(writtenAt(version)), ":"), laidOut(fields));
}

function changes(before, after) {
  const all = differences(before.fields, after.fields).filter(({name}) => !["updated_at", "written_at"].includes(name));
  return h("div", {class: "version-body"}, all.length === 0
    ? h("p", {class: "muted small"}, "The same as the version before.")
    : h("dl", {class: "changes"}, all.map((one) => h("div", {},
      h("dt", {}, fieldLabel(one.name)), h("dd", {}, changed(one))))));
}

function changed({before, after}) {
  if (typeof before === "string" && typeof after === "string") {
    return textChange(before, after);
  }
  if (isListOfWords(before) && isListOfWords(after)) {
    return wordChange(before, after);
  }
  return [
    before === undefined ? null : h("div", {class: "was"}, h("span", {class: "hidden"}, "was: "), laidOut(before)),
    after === undefined ? h("p", {class: "muted small"}, "taken away")
      : h("div", {class: "is"}, h("span", {class: "hidden"}, "is: "), laidOut(after)),
  ];
}

function isListOfWords(value) {
  return Array.isArray(value) && value.every((one) => typeof one !== "object");
}

/** What went and what came; the order of tags and the like says nothing. */
function wordChange(before, after) {
  const gone = before.filter((one) => !after.includes(one));
  const come = after.filter((one) => !before.includes(one));
  return gone.length + come.length === 0 ? h("span", {class: "muted small"}, "in another order")
    : h("div", {class: "chips"}, gone.map((one) => h("del", {}, String(one))), come.map((one) => h("ins", {}, String(one))));
}

/** Marks what lies between the words that both begin and end with. */
function textChange(before, after) {
  const old = before.split(/(\s+)/);
  const now = after.split(/(\s+)/);
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) {
    head += 1;
  }
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) {
    tail += 1;
  }
  const gone = old.slice(head, old.length - tail).join("");
  const come = now.slice(head, now.length - tail).join("");
  return h("div", {class: "text"}, now.slice(0, head).join(""), gone ? h("del", {}, gone) : null,
    gone && come ? " " : null, come ? h("ins", {}, come) : null, now.slice(now.length - tail).join(""));
}
