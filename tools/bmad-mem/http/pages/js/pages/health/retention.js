// retention.js - how long entries are kept, which tasks are scheduled, and what can still be restored.
import {api} from "../../api.js";
import {h} from "../../dom.js";
import {button, bytes, count, exactTime, time, typeBadge} from "../../parts/parts.js";
import {dataTable, number, section} from "./sections.js";

/** Stored entries by type, and for how long. */
export function retention({retention: kept}) {
  const columns = [{text: "Type"}, {text: "Entries", number: true}, {text: "Size", number: true},
    {text: "Sensitive", number: true}, {text: "Oldest"}, {text: "Kept for", number: true},
    {text: "Archived", number: true}, {text: "Evicted", number: true}, {text: "Past it", number: true}];
  return section("Retention", {wide: true, hint: "Pinned entries stay, except after their own expires_at."},
    dataTable("Stored entries by type", columns, kept.map((one) => [
      typeBadge(one.type), number(one.entries), bytes(one.bytes), number(one.sensitive),
      one.oldest ? time(one.oldest) : "–",
      one.retention_days ? count(one.retention_days, "day") : "ever",
      number(one.archived ?? 0), number(one.evicted ?? 0),
      one.expired ? h("span", {class: "chip chip-warn"}, number(one.expired)) : "0",
    ])));
}

/** "retention 12 in sess-1: 12 events are older than 90 days" */
export function dueList(actions) {
  return h("ul", {class: "health-list"}, actions.map(({task, session_id: session, count: n, what}) =>
    h("li", null, h("strong", null, task), n ? ` ${number(n)}` : "", session ? ` in ${session}` : "",
      what ? `: ${what}` : "")));
}

/** What maintenance would do now. */
export function due({maintenance}) {
  const {due: actions, next_due: next, held_back: heldBack, problems = []} = maintenance;
  return section("Due", {hint: next ? ["Next check: ", exactTime(next), "."] : "No task is scheduled."},
    actions.length ? dueList(actions) : h("p", null, "No task is due."),
    // The first run of all holds back what depends on age; nobody with a new memory has to know.
    heldBack && !heldBack.startsWith("first run") && h("p", {class: "small"}, h("span", {class: "chip chip-warn"}, "Held back"), ` ${heldBack}`),
    problems.length > 0 && h("ul", {class: "health-list"}, problems.map(({code, message}) =>
      h("li", null, h("strong", {class: "health-bad"}, code), ` ${message}`))));
}

/** Deletions that can be restored: by session, as the server does it. */
export function deletions(page, {deletions: list}) {
  const bySession = new Map();
  for (const one of list) {
    bySession.set(one.session_id, [...(bySession.get(one.session_id) ?? []), one]);
  }
  const columns = ["Session", "What", "By", "Deleted", "Purged", "Undo"].map((text) => ({text}));
  return section("Deleted", {wide: true, hint: "You can restore deletions until they are purged."},
    bySession.size > 0
      ? dataTable("Deletions that can be restored", columns,
                  [...bySession].map(([session, of]) => deletionRow(page, session, of)))
      : h("p", null, "No deletions can be restored."));
}

function deletionRow(page, session, list) {
  const entries = count(list.reduce((sum, one) => sum + one.entries, 0), "entry", "entries");
  const agents = [...new Set(list.map((one) => one.agent_id).filter(Boolean))];
  return [
    session,
    list.some((one) => one.whole_session) ? `the session, ${entries}` : entries,
    agents.join(", ") || "–",
    time(list.map((one) => one.deleted_at).sort().at(-1)),
    time(list.map((one) => one.expires_at).sort()[0]),
    button("Restore", () => undelete(page, session),
           {"aria-label": `Restore the deleted entries of ${session}`}),
  ];
}

async function undelete(page, session) {
  try {
    const {lines, left_behind: left} = await api.post("/memory/undelete", {sessions: [session]});
    page.app.toast(`${count(lines, "line")} restored to ${session}.` + (left.length
      ? ` ${count(left.length, "entry", "entries")} stayed: there are new ones of the same id.` : ""));
  } catch (error) {
    page.app.toast(error.message, {tone: "danger"});
  }
  await page.load();
}
