// filters.js - what of the graph is shown. The kinds are its legend at the same time.
import {h} from "../../dom.js";
import {short} from "../../parts/parts.js";
import {titleOf} from "../../parts/session_names.js";
import {kindMark} from "./card.js";
import {kKinds, kRelations, kindOf} from "./model.js";

const kTimes = [["", "Any time"], ["24h", "Last 24 hours"], ["7d", "Last 7 days"],
  ["30d", "Last 30 days"], ["90d", "Last 90 days"]];
const kLimits = [100, 300, 1000, 2000];

/**
 * @param {Object} page the GraphPage: `graph`, `sessions`, `wanted`, `hiddenKinds`,
 *   `hiddenRelations`, `show()`, `load()`
 */
export function filters(page) {
  return [
    h("fieldset", {class: "graph-legend"}, h("legend", null, "Kinds"), kindChecks(page)),
    h("fieldset", {class: "graph-legend"}, h("legend", null, "Links"), relationChecks(page)),
    sessionChoice(page),
    choice("Since", "graph-since", kTimes, page.wanted.since, (value) => {
      page.wanted.since = value;
      page.load();
    }),
    choice("At most", "graph-limit", kLimits.map((n) => [n, `${n} entries`]), page.wanted.limit,
           (value) => {
             page.wanted.limit = Number(value);
             page.load();
           }),
  ];
}

function kindChecks(page) {
  const counts = new Map();
  for (const {kind} of page.graph.nodes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const order = Object.keys(kKinds);
  const place = (kind) => (order.indexOf(kind) + order.length) % order.length;
  return [...counts.keys()].sort((a, b) => place(a) - place(b)).map((kind) =>
    check(page, page.hiddenKinds, kind, `graph-kind-${kind}`,
          [kindMark(kind), kindOf(kind).name, h("span", {class: "muted"}, counts.get(kind))]));
}

function relationChecks(page) {
  const counts = new Map();
  for (const {relation} of page.graph.edges) counts.set(relation, (counts.get(relation) ?? 0) + 1);
  return Object.entries(kRelations).map(([relation, {name}]) =>
    check(page, page.hiddenRelations, relation, `graph-link-${relation}`,
          [h("span", {class: `graph-line graph-${relation}`, "aria-hidden": "true"}), name,
           h("span", {class: "muted"}, counts.get(relation) ?? 0)]));
}

function check(page, hidden, name, id, label) {
  const box = h("input", {type: "checkbox", id});
  box.checked = !hidden.has(name);
  box.addEventListener("change", () => {
    if (box.checked) hidden.delete(name);
    else hidden.add(name);
    page.show();
  });
  return h("span", {class: "check"}, box, h("label", {for: id, class: "graph-key"}, label));
}

function sessionChoice(page) {
  const options = [["", "All sessions"], ...page.sessions.map(
      (session) => [session.session_id, [short(titleOf(session), 80), session.project_name && `(${session.project_name})`]
        .filter(Boolean).join(" ")])];
  const [chosen = ""] = page.wanted.session_id;
  return choice("Session", "graph-session", options, chosen, (value) => {
    page.wanted.session_id = value ? [value] : [];
    page.load();
  });
}

function choice(label, id, options, chosen, onChange) {
  const select = h("select", {id}, options.map(([value, text]) =>
    h("option", {value, selected: String(value) === String(chosen)}, text)));
  select.addEventListener("change", () => onChange(select.value));
  return h("div", {class: "field"}, h("label", {for: id}, label), select);
}
