// session_names.js - sessions by their titles, where they have one; by their ids until these are known.
import {h} from "../dom.js";
import {api} from "../api.js";

const titles = new Map();

/**
 * What a person calls a session: its title, else its id. A title that is the cut beginning of the
 * first request continues with the request, and the style sheet cuts it where the line ends.
 * @returns {string}
 */
export function titleOf({session_id: id, title, first_request: request}) {
  const said = title?.trim() || id;
  return said.endsWith("…") && request?.startsWith(said.slice(0, -1)) ? request : said;
}

/** @returns {string} the same where only the id is at hand. */
export function sessionTitle(id) {
  return titles.get(id) ?? id;
}

/** @returns {HTMLElement} the title, which may come later; the id stands in its tooltip. */
export function sessionName(id) {
  return h("span", {class: "one-line", dataset: {sessionName: id}, title: id}, sessionTitle(id));
}

/**
 * Notes the titles of a list of the server, and shows them where names stand already.
 * @param {Object[]} sessions
 * @returns {Object[]} `sessions`
 */
export function noteSessions(sessions) {
  for (const session of sessions) {
    titles.set(session.session_id, titleOf(session));
  }
  for (const name of document.querySelectorAll("[data-session-name]")) {
    name.textContent = sessionTitle(name.dataset.sessionName);
  }
  return sessions;
}

/** Asks for the titles of all sessions. Without them there are ids. */
export async function loadSessionNames() {
  const {sessions, archived} = await api.get("/memory/sessions").catch(() => ({sessions: [], archived: []}));
  noteSessions([...archived, ...sessions]);
}
