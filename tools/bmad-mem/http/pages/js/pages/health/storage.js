// storage.js - how much there is, who holds a lock, what was taken out.
import {sessionName} from "../../parts/session_names.js";
import {h} from "../../dom.js";
import {bar, bytes, count, sessionUrl, time} from "../../parts/parts.js";
import {dataTable, number, section} from "./sections.js";

/** From this share of its quota on a session is worth a look, and from the second on a worry. */
const kNearlyFull = 0.7;
const kFull = 0.9;

/** A few numbers about all of it. */
export function tiles(health) {
  const tile = (value, label) => h("div", {class: "health-tile"}, h("dt", null, label), h("dd", null, value));
  return h("dl", {class: "health-tiles"},
           tile(number(health.sessions), "sessions"),
           tile(number(health.entries), "entries"),
           tile(bytes(health.size_bytes), "in open sessions"),
           tile(number(health.archived_sessions), "archived"),
           tile(number(health.evicted_entries), "evicted by compaction"));
}

/** What could not be read; null without any. */
export function problems(list) {
  if (list.length === 0) return null;
  return section(count(list.length, "problem"), {wide: true}, h("ul", {class: "health-list"},
    list.map(({code, message, path, line}) => h("li", null, h("strong", {class: "health-bad"}, code), " ",
      path && h("code", null, line ? `${path}:${line}` : path), " ", message))));
}

/** How much of its quota each of the largest sessions uses. */
export function sizes({largest}) {
  const rows = largest.map(({session_id: id, size_bytes: size, size_max_bytes: most, entries}) => {
    const share = most > 0 ? size / most : 0;
    const tone = share >= kFull ? "danger" : share >= kNearlyFull ? "warn" : "accent";
    const text = `${bytes(size)} of ${bytes(most)}, ${count(entries, "entry", "entries")}`;
    return h("li", {class: "health-size"}, h("a", {href: sessionUrl(id)}, sessionName(id)),
             bar(share, `Quota used by ${id}`, {text, tone}));
  });
  return section("Size and quota", {
    hint: "The largest sessions. A session near its quota is compacted automatically.",
  }, rows.length ? h("ul", {class: "health-list"}, rows) : h("p", {class: "muted"}, "No sessions."));
}

/** " · hub shop at team, row 812; 2 sessions to push"; nothing without a hub. */
export function hub({hub: mirror}) {
  if (!mirror) return "";
  const {service, project, cursor, sessions_to_push: waiting} = mirror;
  return ` · hub ${project} at ${service}, row ${cursor}; ${waiting} session${waiting === 1 ? "" : "s"} to push`;
}

/** Who writes at the moment. */
export function locks({locks: held}) {
  const rows = held.map((lock) => [
    h("a", {href: sessionUrl(lock.session_id)}, sessionName(lock.session_id)),
    [lock.agent_id || "unknown agent", `, process ${lock.pid} on ${lock.host}`],
    lock.operation,
    time(lock.acquired_at),
    lock.alive ? "alive" : h("span", {class: "chip chip-warn"}, "gone"),
  ]);
  return section("Locks", {hint: "A session is locked during a write."},
    rows.length
      ? dataTable("Locks", ["Session", "Held by", "For", "Since", "Process"].map(
          (text) => ({text})), rows)
      : h("p", null, "No locks."));
}

/** What was taken out of texts before they were stored. */
export function redaction({redacted, redacts}) {
  const counts = Object.entries(redacted).sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...counts.map(([, n]) => n));
  return section("Redacted secrets", {
    hint: redacts
      ? "Secrets are replaced before an entry is written."
      : "Redaction is switched off: secrets are stored in clear text.",
  }, counts.length
    ? h("div", {class: "health-bars"}, counts.map(([rule, n]) => bar(n / most, rule, {text: number(n)})))
    : h("p", null, "None in the stored entries."));
}
