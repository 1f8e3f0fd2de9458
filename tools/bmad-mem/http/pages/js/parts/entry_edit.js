// entry_edit.js - changes an entry: a field for each text, or all of it as JSON.
//
// Only what was changed is sent, so that what somebody else changed meanwhile stays.
import {h, put} from "../dom.js";
import {button} from "./parts.js";
import {fieldLabel, kMainFields} from "./content.js";
import {differences} from "./versions.js";

// These are the store's, or have buttons of their own.
const kNotHere = new Set(["id", "type", "timestamp", "decay_factor", "pinned", "sensitive", "tags", "session_id", "updated_at"]);
// The store's alone: not even as JSON.
const kFixed = ["id", "type", "timestamp", "updated_at", "decay_factor"];
const kLineMax = 60;

/**
 * @param {Object} entry Entry of the API
 * @param {{save: (changes: Object) => Promise<void>, cancel: () => void}} actions `save` gets the
 *   members to set, null for those to take away; what it throws (ApiError) is shown at its field.
 * @returns {HTMLElement} a form
 */
export function editForm(entry, {save, cancel}) {
  const state = {mode: null, form: null};
  const body = h("div", {class: "edit-body"});
  const problemPlace = h("div", {});
  const modes = h("div", {class: "segments", role: "group", "aria-label": "How to edit"});
  const show = (mode) => {
    state.mode = mode(entry);
    put(body, state.mode.view);
    put(problemPlace);
    for (const one of modes.children) {
      one.setAttribute("aria-pressed", String(one.mode === mode));
    }
    const first = body.querySelector("textarea, input");
    first?.focus();
    first?.setSelectionRange(0, 0);  // Long texts begin at their beginning.
  };
  for (const [label, mode] of [["Fields", fieldsMode], ["JSON", jsonMode]]) {
    modes.append(Object.assign(button(label, () => show(mode)), {mode}));
  }
  const submit = async (event) => {
    event?.preventDefault();
    await trySave(state.mode, {body, problemPlace, save, cancel});
  };
  state.form = h("form", {class: "card edit", onsubmit: submit, onkeydown: (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      submit(event);
    } else if (event.key === "Escape" && Object.keys(safeChanges(state.mode)).length === 0) {
      cancel();
    }
  }},
    h("div", {class: "edit-head"}, h("h2", {}, "Edit"), modes), body, problemPlace,
    h("div", {class: "actions"}, h("button", {class: "button primary"}, "Save as a new version"),
      button("Cancel", cancel), h("span", {class: "muted small"}, "Ctrl+Enter saves. The history keeps the earlier version.")));
  queueMicrotask(() => show(fieldsMode));
  return state.form;
}

/** Changes as far as they can be read; broken JSON counts as a change. */
function safeChanges(mode) {
  try {
    return mode.changes();
  } catch {
    return {broken: true};
  }
}

async function trySave(mode, {body, problemPlace, save, cancel}) {
  for (const shown of body.querySelectorAll("[aria-invalid]")) {
    shown.removeAttribute("aria-invalid");
    document.getElementById(`${shown.id}-error`)?.replaceChildren();
  }
  put(problemPlace);
  try {
    const changes = mode.changes();
    if (Object.keys(changes).length === 0) {
      cancel();
      return;
    }
    await save(changes);
  } catch (error) {
    showError(error, body, problemPlace);
  }
}

/** At the field that the server names, else below all. */
function showError(error, body, place) {
  const name = String(error.field ?? "").split(/[./[]/).filter(Boolean)[0];
  const control = [...body.querySelectorAll("textarea, input")].find((one) => one.name === name);
  const at = control ? document.getElementById(`${control.id}-error`) : place;
  control?.setAttribute("aria-invalid", "true");
  put(at, h("p", {class: "field-error", role: "alert"}, error.message));
  control?.focus();
}

function fieldsMode(entry) {
  const main = kMainFields[entry.type] ?? [];
  const names = [...main, ...Object.keys(entry.fields).filter((name) => !main.includes(name))]
    .filter((name) => isPlain(entry.fields[name] ?? "") && !kNotHere.has(name));
  const controls = names.map((name) => control(name, entry.fields[name], main.includes(name)));
  return {
    view: controls.map(({view}) => view),
    changes: () => Object.assign({}, ...controls.map(({change}) => change())),
  };
}

const isPlain = (value) => ["string", "number", "boolean"].includes(typeof value);

function control(name, value, isMain) {
  const id = `edit-${name}`;
  const shown = value === undefined ? "" : String(value);
  const isLong = isMain || shown.length > kLineMax || shown.includes("\n");
  const props = {id, name, "aria-describedby": `${id}-error`};
  const input = isLong ? h("textarea", {...props, rows: Math.min(16, Math.max(2, Math.ceil(shown.length / 80) + shown.split("\n").length - 1))})
    : h("input", {...props, type: "text"});
  input.value = shown;
  return {
    view: h("div", {class: "field"}, h("label", {for: id}, fieldLabel(name)), input, h("div", {id: `${id}-error`})),
    change: () => (input.value === shown ? {} : {[name]: typed(input.value, value)}),
  };
}

/** What was typed, as the kind of value that was there; an emptied field takes its member away. */
function typed(text, value) {
  const word = text.trim();
  if (word === "") {
    return null;
  }
  if (typeof value === "number" && !Number.isNaN(Number(word))) {
    return Number(word);
  }
  return typeof value === "boolean" && ["true", "false"].includes(word) ? word === "true" : text;
}

function jsonMode(entry) {
  const before = Object.fromEntries(Object.entries(entry.fields).filter(([name]) => !kFixed.includes(name)));
  const area = h("textarea", {id: "edit-json", name: "json", class: "mono", rows: 20, spellcheck: "false",
    "aria-label": "The entry as JSON", "aria-describedby": "edit-json-error"});
  area.value = JSON.stringify(before, null, 2);
  return {
    view: h("div", {class: "field"}, area, h("div", {id: "edit-json-error"})),
    changes: () => jsonChanges(before, area.value),
  };
}

function jsonChanges(before, text) {
  let after;
  try {
    after = JSON.parse(text);
  } catch (error) {
    throw Object.assign(new Error(`This is not JSON: ${error.message}`), {field: "json"});
  }
  if (after === null || typeof after !== "object" || Array.isArray(after)) {
    throw Object.assign(new Error("An entry is an object of JSON: { … }."), {field: "json"});
  }
  return Object.fromEntries(differences(before, after).map((one) => [one.name, one.after ?? null]));
}
