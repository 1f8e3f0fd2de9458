// session_aside.js - what stands beside a timeline: the session's artifacts and its summary.
import {h, put} from "../dom.js";
import {api, path} from "../api.js";
import {button, count, problem, skeleton} from "./parts.js";
import {markdown} from "./markdown.js";
import {openDocument} from "./document.js";

/**
 * @param {Object} app the shell
 * @param {string} session
 * @param {AbortSignal} signal
 * @returns {HTMLElement} fills itself
 */
export function sessionAside(app, session, signal) {
  const summary = h("div", {class: "markdown"}, skeleton(4));
  const artifacts = h("div", {});
  loadSummary(summary, session, signal);
  loadArtifacts(artifacts, app, session, signal);
  return h("aside", {class: "aside", "aria-label": "About this session"}, artifacts,
    h("section", {class: "card"}, h("h2", {}, "Summary"), summary));
}

async function loadSummary(place, session, signal) {
  try {
    const {exists, markdown: text, status} = await api.get(path("memory", "sessions", session, "summary"), {}, {signal});
    put(place, exists ? markdown(text) : h("p", {class: "muted"}, "No summary yet. An agent writes one with ",
      h("code", {}, "bmad-mem summary prompt"), "."),
    status?.due ? h("p", {}, h("span", {class: "chip chip-warn"}, `Update due: ${count(status.messages_since, "message")} since`)) : null);
  } catch (error) {
    if (error.name !== "AbortError") {
      put(place, problem(error, () => loadSummary(place, session, signal)));
    }
  }
}

async function loadArtifacts(place, app, session, signal) {
  const {entries} = await api.get("/memory/entries", {session_id: session, type: "artifact", limit: 100}, {signal})
    .catch(() => ({entries: []}));
  if (entries.length > 0) {
    put(place, h("section", {class: "card"}, h("h2", {}, "Artifacts"),
      h("ul", {class: "links"}, entries.map((entry) => h("li", {},
        button(entry.fields?.title || entry.headline || entry.id, () => openDocument(app, entry), {kind: "link"}))))));
  }
}
