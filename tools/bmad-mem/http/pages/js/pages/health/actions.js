// actions.js - what changes much at once, and what each of them would do.
import {api, path} from "../../api.js";
import {h} from "../../dom.js";
import {button, bytes, count, time, typeBadge} from "../../parts/parts.js";
import {openAction} from "./action_dialog.js";
import {dueList} from "./retention.js";
import {dataTable, number} from "./sections.js";

const sum = (list, name) => list.reduce((total, one) => total + (one[name] ?? 0), 0);

const kCompact = {
  label: "Compact…",
  title: "Compact sessions",
  route: "POST /memory/compact",
  preview: () => api.post("/memory/compact", {dry_run: true}),
  isEmpty: ({sessions}) => sum(sessions, "removed") === 0,
  nothing: "Nothing to compact: the logs have no superseded versions or duplicates.",
  show: ({sessions}) => sessions.filter(({removed}) => removed > 0).map(compaction),
  action: ({sessions}) => `Move ${count(sum(sessions, "removed"), "line")} to the archive`,
  run: () => api.post("/memory/compact", {dry_run: false}),
  done: ({sessions}) => `${count(sum(sessions, "removed"), "line")} moved to the archive, ` +
      `${bytes(sum(sessions, "bytes_before") - sum(sessions, "bytes_after"))} freed.`,
};

const kPurge = {
  label: "Purge…",
  title: "Purge deletions",
  route: "POST /memory/purge",
  option: {name: "all", text: "Include deletions that can still be undone"},
  preview: (all) => api.post("/memory/purge", {all, dry_run: true}),
  isEmpty: ({deletions}) => deletions.length === 0,
  nothing: "No deletion is past its retention period.",
  show: ({deletions}) => dataTable("Deletions to purge",
    [{text: "Session"}, {text: "Entries", number: true}, {text: "Deleted"}],
    deletions.map((one) => [one.session_id, number(one.entries), time(one.deleted_at)])),
  action: ({deletions}) => `Purge ${count(deletions.length, "deletion")} permanently`,
  run: (all) => api.post("/memory/purge", {all, dry_run: false}),
  done: ({deletions}) => `${count(deletions.length, "deletion")} purged.`,
};

const kMaintain = {
  label: "Maintain…",
  title: "Run maintenance",
  route: "POST /memory/maintain",
  preview: () => api.post("/memory/maintain", {dry_run: true}),
  isEmpty: ({done}) => done.length === 0,
  nothing: "No task is due.",
  show: ({done, held_back: heldBack}) => [dueList(done), heldBack && h("p", {class: "small"}, heldBack)],
  action: ({done}) => `Do ${count(done.length, "task")}`,
  run: () => api.post("/memory/maintain", {dry_run: false}),
  done: ({done, problems}) => `${count(done.length, "task")} done.` +
      (problems.length ? ` ${count(problems.length, "problem")}: ${problems[0].message}` : ""),
};

const kArchive = {
  label: "Archive…",
  title: "Archive a session",
  route: "POST /memory/sessions/{session_id}/archive",
  preview: () => api.get("/memory/sessions"),
  isEmpty: ({sessions}) => sessions.length === 0,
  nothing: "No session to archive.",
  show: ({sessions}) => h("fieldset", {class: "health-choices"}, h("legend", null, "Which one?"),
    [...sessions].reverse().map(archiveChoice)),
  look: (dialog) => api.post(`${path("memory", "sessions", chosen(dialog))}/archive`, {dry_run: true}),
  tell: ({files, original_bytes: before, compressed_bytes: after, kept}) => h("p", null,
    `${count(files, "file")}, ${bytes(before)}, would become one file of ${bytes(after)}; ` +
    `${count(kept, "entry stays", "entries stay")} searchable.`),
  action: (_, dialog) => (chosen(dialog) ? "Archive the chosen session" : ""),
  run: (_, dialog) => api.post(`${path("memory", "sessions", chosen(dialog))}/archive`, {}),
  done: ({session_id: id}) => `${id} is archived.`,
};

/** The buttons for all of them; that for compaction is hidden until a session is large enough. */
export function actionButtons(page) {
  const make = (kind, more) =>
    button(kind.label, () => openAction(page, kind), {"aria-haspopup": "dialog", ...more});
  page.compactButton = make(kCompact, {hidden: true});
  return [make(kMaintain), page.compactButton, make(kArchive), make(kPurge)];
}

function compaction({session_id: id, removed, superseded, duplicates, evicted, examples, ...sizes}) {
  return h("section", {class: "health-change"}, h("h3", null, id),
           h("p", null, `${count(removed, "line")} would leave: ${count(superseded, "older version")}, ` +
               `${number(duplicates)} repeated, ${number(evicted)} evicted. ` +
               `${count(sizes.entries_before, "entry", "entries")} become ${number(sizes.entries_after)}, ` +
               `${bytes(sizes.bytes_before)} become ${bytes(sizes.bytes_after)}.`),
           examples.length > 0 && h("details", null, h("summary", null, count(examples.length, "example")),
             h("ul", {class: "health-list"}, examples.map(({type, reason, headline, id: entry}) =>
               h("li", null, typeBadge(type, {short: true}), ` ${headline || entry} `,
                 h("span", {class: "muted small"}, reason))))));
}

function chosen(dialog) {
  return dialog.querySelector('input[name="archive"]:checked')?.value ?? "";
}

function archiveChoice({session_id: id, state, size_bytes: size, entries, last_write: last}, i) {
  const input = h("input", {type: "radio", name: "archive", value: id, id: `archive-${i}`});
  return h("p", {class: "check"}, input, h("label", {for: `archive-${i}`}, id,
    h("span", {class: "muted small"}, ` ${state}, ${bytes(size)}`,
      entries === undefined ? "" : `, ${count(entries, "entry", "entries")}`, ", written ", time(last))));
}
