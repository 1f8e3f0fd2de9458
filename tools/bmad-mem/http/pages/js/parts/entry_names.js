// entry_names.js - entries by their headlines, where another refers to them by id.
import {h} from "../dom.js";
import {api, path} from "../api.js";
import {headlineOf} from "./content.js";
import {entryUrl} from "./parts.js";

const names = new Map();
let asking = Promise.resolve();

/** An entry was written: its headline may be another one. */
export function forgetEntryName({id}) {
  names.delete(id);
}

/** What was written is not known: all of them may be others. */
export function forgetEntryNames() {
  names.clear();
}

/** @returns {HTMLElement} a link that shows the id until the headline has come */
export function entryLink(sessionId, id) {
  const link = h("a", {href: entryUrl(sessionId, id), title: id}, names.get(id) ?? id);
  if (!names.has(id)) {
    asking = asking.then(() => name(link, id));  // One after the other: there may be hundreds.
  }
  return link;
}

async function name(link, id) {
  if (!names.has(id) && link.isConnected) {
    const {entries} = await api.get(path("memory", "record", id)).catch(() => ({entries: []}));
    names.set(id, entries.length > 0 ? headlineOf(entries[0]) : id);
  }
  link.textContent = names.get(id) ?? id;
}
