// sessions.js - all sessions, by when something was said last; each leads to its timeline.
import {h, put} from "../dom.js";
import {address, api} from "../api.js";
import {button, bytes, count, days, empty, pageHead, sessionUrl, skeleton, time} from "../parts/parts.js";
import {firstSteps} from "../parts/first_steps.js";
import {noteSessions, titleOf} from "../parts/session_names.js";
import {roving} from "../parts/list.js";

/** Title of the window. */
export const title = "Sessions";

/** A memory may have ten thousand sessions. */
const kRows = 200;

/** Shows the page. */
export async function show(main, {query, app, signal}) {
  const list = h("div", {class: "sessions"}, skeleton(6));
  const filter = {text: query.get("text") ?? "", state: query.get("state") ?? "", project: query.get("project") ?? ""};
  const status = h("p", {class: "muted small", role: "status"});
  let known = [];
  let rows = kRows;
  const showList = () => {
    const shown = known.filter((one) => sessionPasses(one, filter));
    app.setUrl(address("/sessions", filter));
    put(status, shown.length === known.length ? count(known.length, "session")
      : `${count(shown.length, "session")} of ${known.length.toLocaleString("en")}`);
    put(live, known.length > 0 && shown.length === 0
      ? empty("No session passes these filters.", "Remove a word, or choose another state or project.")
      : sessionList(shown.slice(0, rows), app),
    shown.length > rows ? h("div", {class: "more"}, button("Show more", () => {
      const before = rows;
      rows += kRows;
      showList();
      live.querySelectorAll("[data-item]")[before]?.focus();
    })) : null);
    live.querySelectorAll("ul").forEach(roving);
  };
  const live = h("div", {});
  const archivedPlace = h("div", {});
  const form = filterForm(filter, showList);
  put(main, pageHead("Sessions", {lead: "Choose a session to open its timeline."}), form, status, list);
  let round = 0;
  const load = async () => {
    const mine = ++round;
    const [{sessions, archived}, {by_session: said}] = await Promise.all([
      api.get("/memory/sessions", {}, {signal}),
      api.get("/memory/stats", {}, {signal}).catch(() => ({by_session: []})),
    ]);
    if (mine !== round) {
      return;  // A newer list is on its way.
    }
    const focused = document.activeElement.closest?.(".sessions [data-session]")?.dataset.session;
    const wasOpen = list.querySelector("details")?.open ?? false;
    noteSessions(archived);
    known = bySaid(noteSessions(sessions), said);
    offer(form.querySelector("#sessions-state"), "Any", known.map(({state}) => state), filter.state);
    offer(form.querySelector("#sessions-project"), "Any", known.map((one) => one.project_name), filter.project);
    showList();
    put(archivedPlace, archivedList(archived, wasOpen));
    put(list, live, archivedPlace);
    archivedPlace.querySelectorAll("ul").forEach(roving);
    list.querySelector(`[data-session="${CSS.escape(focused ?? "")}"] [data-item]`)?.focus({preventScroll: true});
  };
  const later = soon(load, signal);
  app.onUpdate(later, {onReset: later});
  await load();
}

/**
 * Sessions with the time of what was said in them and the number of entries, the latest first.
 * @param {Object[]} sessions
 * @param {{session_id: string, entries: number, oldest?: string, newest?: string}[]} said
 */
export function bySaid(sessions, said) {
  const counted = new Map(said.map((one) => [one.session_id, one]));
  const all = sessions.map((session) => {
    const {entries, oldest, newest} = counted.get(session.session_id) ?? {};
    return {...session, entries, oldest, newest};
  });
  const last = ({newest, last_write: write, created_at: made}) => Date.parse(newest ?? write ?? made ?? 0) || 0;
  return all.sort((a, b) => last(b) - last(a));
}

/** Whether a session has every word of `text` somewhere, and passes the other filters. */
export function sessionPasses(session, {text = "", state = "", project = ""}) {
  const all = [session.session_id, session.title, session.first_request, session.project_name, session.session_type, session.user_id,
    ...(session.agent_ids ?? []), ...(session.tags ?? [])].join(" ").toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => all.includes(word)) &&
    (!state || session.state === state) && (!project || session.project_name === project);
}

function filterForm(filter, onChange) {
  const set = (name) => (event) => {
    filter[name] = event.target.value;
    onChange();
  };
  const field = (id, label, input) => h("div", {class: "field"}, h("label", {for: id}, label), input);
  return h("form", {class: "sessions-filter", role: "search", onsubmit: (event) => event.preventDefault()},
    field("sessions-text", "Find", h("input", {type: "search", id: "sessions-text", value: filter.text,
      placeholder: "Words in title, id, project, agent or tags", oninput: set("text")})),
    field("sessions-state", "State", h("select", {id: "sessions-state", onchange: set("state")})),
    field("sessions-project", "Project", h("select", {id: "sessions-project", onchange: set("project")})));
}

/** Fills a choice with what there is. */
function offer(select, any, values, chosen) {
  const all = [...new Set([...values, chosen].filter(Boolean))].sort();
  put(select, h("option", {value: ""}, any), all.map((value) => h("option", {value, selected: value === chosen}, value)));
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

function sessionList(sessions, app) {
  if (sessions.length === 0) {
    return firstSteps(app);
  }
  // One list, so that keys go from day to day.
  return h("ul", {class: "rows"}, byDay(sessions).map(([day, those]) =>
    [h("li", {class: "session-day"}, h("h2", {}, day)), those.map(sessionRow)]));
}

/** The day on which something was said last in a session, in the time of the reader. */
function dayOf({newest, last_write: write, created_at: made}) {
  const at = newest ?? write ?? made;
  return at ? days(at, at) : "Without a date";
}

/**
 * Sessions that stand in the order of time, as [day, sessions] for each day.
 * @param {Object[]} sessions
 */
export function byDay(sessions) {
  const groups = [];
  for (const session of sessions) {
    const day = dayOf(session);
    if (groups.at(-1)?.[0] !== day) {
      groups.push([day, []]);
    }
    groups.at(-1)[1].push(session);
  }
  return groups;
}

/** What was asked for first, where the title does not say it. */
function firstRequest(session) {
  const {first_request: request} = session;
  return request && request !== titleOf(session) ? h("span", {class: "row-text muted"}, request) : null;
}

function sessionRow(session) {
  return h("li", {class: "row", dataset: {session: session.session_id}},
    h("a", {class: "row-link", href: sessionUrl(session.session_id), "data-item": true},
      h("span", {class: "row-top"}, session.state === "active" ? null  // As most are: the others are marked.
        : h("span", {class: "chip", dataset: {state: session.state}}, session.state),
        session.session_type ? h("span", {class: "row-who"}, session.session_type) : null,
        h("span", {class: "row-time"}, session.newest ? time(session.newest) : ["written ", time(session.last_write)])),
      h("span", {class: "row-text"}, h("strong", {}, titleOf(session)),
        session.project_name ? ` · ${session.project_name}` : ""),
      firstRequest(session),
      h("span", {class: "row-foot"}, facts(session)),
      session.problem ? h("span", {class: "field-error"}, session.problem.message) : null));
}

function facts(session) {
  return [
    session.newest ? days(session.oldest ?? session.newest, session.newest) : "",
    titleOf(session) === session.session_id ? "" : session.session_id,
    session.entries === undefined ? "" : count(session.entries, "entry", "entries"),
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
    h("ul", {}, archived.map((one) => h("li", {class: "archived-row"}, h("strong", {title: one.session_id}, titleOf(one)),
      h("span", {class: "muted small"}, " archived ", time(one.archived_at),
        `, ${bytes(one.compressed_bytes)} of ${bytes(one.original_bytes)}`)))));
}
