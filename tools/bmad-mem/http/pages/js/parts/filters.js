// filters.js - the filters of a search: toggles for types, a form for the rest, chips for what is set.
import {h, put} from "../dom.js";
import {api} from "../api.js";
import {kTypes, short, typeBadge} from "./parts.js";
import {noteSessions, sessionTitle, titleOf} from "./session_names.js";

const kLists = ["type", "session_id", "agent", "tag", "topic", "field"];
/** The newest entries, whose tags are offered: a memory may have a million. */
const kTaggedMax = 300;
/** Letters of a session's title on a chip or in a choice. */
const kNameMax = 80;
/** Filters on fields that people ask for most; any other can be typed. */
const kFieldExamples = ["severity:critical", "severity:high", "severity:medium", "status:open", "-status:resolved",
  "impact:high", "role:user", "kind:tool_use"];
const kNames = {session_id: "session", agent: "agent", tag: "tag", topic: "topic", field: "field", since: "since", until: "until"};

/**
 * The search that an address asks for.
 * @param {URLSearchParams} query
 * @returns {Object} q, type[], session_id[], agent[], tag[], topic[], field[], since, until, pinned, sort
 */
export function searchFromQuery(query) {
  const search = {q: query.get("q") ?? "", since: query.get("since") ?? "", until: query.get("until") ?? "",
    pinned: query.get("pinned") === "true", sort: query.get("sort") ?? ""};
  for (const name of kLists) {
    search[name] = query.getAll(name);
  }
  return search;
}

/**
 * Builds the controls of `search` and keeps them in step with it.
 * @param {Object} search is changed in place
 * @param {() => void} onChange called after each change
 * @returns {{types: Node, form: Node, chips: Node}}
 */
export function filterControls(search, onChange, signal) {
  const chips = h("div", {class: "chips"});
  const change = (edit) => {
    edit();
    render();
    onChange();
  };
  const types = typeToggles(search.type, () => change(() => {}));
  const render = () => {
    showToggles(types, search.type);
    put(chips, activeChips(search, change));
  };
  const form = filterForm(search, change);
  loadChoices(form, signal);
  render();
  return {types, form, chips};
}

/**
 * One button a type; those in `chosen` are pressed, none means all.
 * @param {string[]} chosen is changed in place
 * @param {() => void} onChange
 * @returns {HTMLElement}
 */
export function typeToggles(chosen, onChange) {
  const toggle = (type) => {
    toggleIn(chosen, type);
    showToggles(group, chosen);
    onChange();
  };
  const group = h("div", {class: "type-toggles", role: "group", "aria-label": "Types"},
    Object.keys(kTypes).map((type) => h("button", {type: "button", class: "button toggle", value: type,
      onclick: () => toggle(type)}, typeBadge(type))));
  showToggles(group, chosen);
  return group;
}

function showToggles(group, chosen) {
  for (const toggle of group.children) {
    toggle.setAttribute("aria-pressed", String(chosen.includes(toggle.value)));
  }
}

/** Writes into each toggle how many hits it has; one without is out of the way unless it is pressed. */
export function showTypeCounts(group, counts) {
  for (const toggle of group.children) {
    const n = counts[toggle.value] ?? 0;
    let place = toggle.querySelector(".type-count");
    if (!place) {
      place = h("span", {class: "type-count muted"});
      toggle.append(place);
    }
    place.textContent = n.toLocaleString("en");
    toggle.hidden = n === 0 && toggle.getAttribute("aria-pressed") !== "true";
  }
}

function toggleIn(list, value) {
  const at = list.indexOf(value);
  if (at < 0) {
    list.push(value);
  } else {
    list.splice(at, 1);
  }
}

function activeChips(search, change) {
  const chips = [];
  for (const name of ["session_id", "agent", "tag", "topic", "field"]) {
    for (const value of search[name]) {
      const shown = name === "session_id" ? short(sessionTitle(value), kNameMax) : value;
      chips.push(chip(`${kNames[name]}: ${shown}`, () => change(() => toggleIn(search[name], value))));
    }
  }
  for (const name of ["since", "until"]) {
    if (search[name]) {
      chips.push(chip(`${kNames[name]}: ${search[name]}`, () => change(() => (search[name] = ""))));
    }
  }
  if (search.pinned) {
    chips.push(chip("pinned", () => change(() => (search.pinned = false))));
  }
  if (chips.length + search.type.length > 1) {
    chips.push(h("button", {type: "button", class: "button quiet", onclick: () => change(() => reset(search))},
      "Clear all"));
  }
  return chips;
}

function reset(search) {
  for (const name of kLists) {
    search[name].splice(0);
  }
  Object.assign(search, {since: "", until: "", pinned: false});
}

function chip(text, remove) {
  return h("button", {type: "button", class: "chip chip-set", onclick: remove, "aria-label": `Remove the filter ${text}`},
    text, h("span", {"aria-hidden": "true"}, "✕"));
}

/** One field a filter; what is chosen becomes a chip, and the field is free for the next. */
function filterForm(search, change) {
  const add = (name) => (event) => {
    const value = event.target.value.trim();
    event.target.value = "";
    if (value && !search[name].includes(value)) {
      change(() => search[name].push(value));
    }
  };
  const set = (name) => (event) => change(() => (search[name] = event.target.value));
  const pinned = h("input", {type: "checkbox", id: "f-pinned",
    onchange: (event) => change(() => (search.pinned = event.target.checked))});
  pinned.checked = search.pinned;
  return h("div", {class: "filter-form"},
    field("f-session", "Session", h("select", {id: "f-session", onchange: add("session_id")},
      h("option", {value: ""}, "Any"))),
    field("f-agent", "Agent", h("input", {type: "text", id: "f-agent", list: "agents", autocomplete: "off",
      placeholder: "Any", onchange: add("agent")}), h("datalist", {id: "agents"})),
    field("f-tag", "Tag", h("input", {type: "text", id: "f-tag", list: "tags", autocomplete: "off",
      placeholder: "Any", onchange: add("tag")}), h("datalist", {id: "tags"})),
    field("f-field", "Field", h("input", {type: "text", id: "f-field", list: "fields", autocomplete: "off",
      placeholder: "severity:high", title: "NAME:VALUE; a leading - excludes the value", onchange: add("field")}),
      h("datalist", {id: "fields"}, kFieldExamples.map((value) => h("option", {value})))),
    field("f-since", "Since", h("input", {type: "date", id: "f-since", value: dateOf(search.since), onchange: set("since")})),
    field("f-until", "Until", h("input", {type: "date", id: "f-until", value: dateOf(search.until), onchange: set("until")})),
    h("div", {class: "check"}, pinned, h("label", {for: "f-pinned"}, "Pinned only")));
}

/** A date field takes days only; "7d" of an address stays a chip. */
function dateOf(text) {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? text : "";
}

function field(id, label, ...controls) {
  return h("div", {class: "field"}, h("label", {for: id}, label), controls);
}

/** What there is to choose from; without it, the fields still take what is typed. */
async function loadChoices(form, signal) {
  const {sessions} = await api.get("/memory/sessions", {}, {signal}).catch(() => ({sessions: []}));
  const options = (values) => values.map((value) => h("option", {value}, value));
  noteSessions(sessions);
  form.querySelector("#f-session").append(...sessions.map((one) =>
    h("option", {value: one.session_id}, short(titleOf(one), kNameMax))));
  const once = (values) => options([...new Set(values)].sort());
  form.querySelector("#agents").append(...once(sessions.flatMap((one) => one.agent_ids ?? [])));
  form.querySelector("#f-tag").addEventListener("focus", async () => {
    const {entries} = await api.get("/memory/entries", {limit: kTaggedMax}, {signal}).catch(() => ({entries: []}));
    form.querySelector("#tags").append(...once(entries.flatMap(({fields}) => fields.tags ?? [])));
  }, {once: true});
}
