// sessions.js - all sessions, newest first; each leads to its timeline.
import {h, put} from "../dom.js";
import {api} from "../api.js";
import {bytes, count, empty, pageHead, sessionUrl, skeleton, time} from "../parts/parts.js";
import {roving} from "../parts/list.js";

/** Title of the window. */
export const title = "Timeline";

/** Shows the page. */
export async function show(main, {app, signal}) {
  const list = h("div", {class: "sessions"}, skeleton(6));
  put(main, pageHead("Sessions", {lead: "Choose a session to open its timeline."}), list);
  let round = 0;
  const load = async () => {
    const mine = ++round;
    const {sessions, archived} = await api.get("/memory/sessions", {}, {signal});
    if (mine !== round) {
      return;  // A newer list is on its way.
    }
    const focused = document.activeElement.closest?.(".sessions [data-session]")?.dataset.session;
    const wasOpen = list.querySelector("details")?.open ?? false;
    put(list, sessionList(sessions), archivedList(archived, wasOpen));
    list.querySelectorAll("ul").forEach(roving);
    list.querySelector(`[data-session="${CSS.escape(focused ?? "")}"] [data-item]`)?.focus({preventScroll: true});
    countEntries(list, signal);
  };
  const later = soon(load, signal);
  app.onUpdate(later, {onReset: later});
  await load();
}

/** Adds how many entries each session has; to count takes longer than to list. */
async function countEntries(list, signal) {
  const {by_session: counts} = await api.get("/memory/stats", {}, {signal}).catch(() => ({by_session: []}));
  const entries = new Map(counts.map((one) => [one.session_id, one.entries]));
  for (const row of list.querySelectorAll(".row")) {
    const n = entries.get(row.dataset.session);
    row.querySelector(".row-count").textContent = n === undefined ? "" : `${count(n, "entry", "entries")} · `;
  }
}

/** Not more than one load a second, however fast entries come. */
function soon(load, signal) {
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer));
  return () => {
    timer ||= setTimeout(() => {
      timer = 0;
      load().catch(() => {});  // The mark of the live stream says that the server is away.
    }, 1000);
  };
}

function sessionList(sessions) {
  if (sessions.length === 0) {
    return empty("No sessions yet.", "The first entry creates one: ",
      h("code", {}, "bmad-mem remember \"…\""));
  }
  return h("ul", {class: "rows"}, sessions.map(sessionRow));
}

function sessionRow(session) {
  return h("li", {class: "row", dataset: {session: session.session_id}},
    h("a", {class: "row-link", href: sessionUrl(session.session_id), "data-item": true},
      h("span", {class: "row-top"}, h("span", {class: "chip", dataset: {state: session.state}}, session.state),
        session.session_type ? h("span", {class: "row-who"}, session.session_type) : null,
        h("span", {class: "row-time"}, "last write ", time(session.last_write))),
      h("span", {class: "row-body"}, h("strong", {}, session.session_id),
        session.project_name ? ` · ${session.project_name}` : ""),
      h("span", {class: "row-foot"}, h("span", {class: "row-count"}), facts(session)),
      session.problem ? h("span", {class: "field-error"}, session.problem.message) : null));
}

function facts(session) {
  return [
    bytes(session.size_bytes),
    (session.agent_ids ?? []).join(", "),
    (session.tags ?? []).map((tag) => `#${tag}`).join(" "),
  ].filter(Boolean).join(" · ");
}

function archivedList(archived, open) {
  if (!archived?.length) {
    return null;
  }
  return h("details", {class: "card archived", open}, h("summary", {}, `Archived (${archived.length})`),
    h("ul", {}, archived.map((one) => h("li", {class: "archived-row"}, h("strong", {}, one.session_id),
      h("span", {class: "muted small"}, " archived ", time(one.archived_at),
        `, ${bytes(one.compressed_bytes)} of ${bytes(one.original_bytes)}`)))));
}
