// why.js - why a hit stands where it stands: its components, and what each word gave.
import {h} from "../dom.js";

const kComponents = [
  {name: "text", label: "Text", hint: "how well the words fit"},
  {name: "time", label: "Time", hint: "how fresh it is"},
  {name: "importance", label: "Importance", hint: "what it is"},
  {name: "access", label: "Access", hint: "how lately it was used"},
];

const round = (value, digits = 2) => Number(value ?? 0).toFixed(digits);

/**
 * The components of a hit, stacked in one bar, then each with its numbers.
 * @param {Object} hit with `components`, `weights`, `score`
 */
export function components(hit) {
  const parts = kComponents.map((part) => ({...part, value: hit.components?.[part.name] ?? 0,
    weight: hit.weights?.[part.name] ?? 0}));
  const most = Math.max(1, parts.reduce((sum, {weight}) => sum + weight, 0));
  return h("div", {class: "why"},
    h("div", {class: "why-stack", "aria-hidden": "true"}, parts.map(({name, value, weight}) =>
      h("span", {class: "why-part", dataset: {part: name}, vars: {"--share": `${(100 * value * weight) / most}%`}}))),
    h("table", {class: "why-table"},
      h("caption", {class: "hidden"}, "Components of the relevance"),
      h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Component"), h("th", {scope: "col"}, "Value"),
        h("th", {scope: "col"}, "Weight"), h("th", {scope: "col"}, "Part"))),
      h("tbody", {}, parts.map(componentRow)),
      h("tfoot", {}, h("tr", {}, h("th", {scope: "row", colspan: 3}, "Relevance"),
        h("td", {}, round(hit.score, 3))))));
}

function componentRow({name, label, hint, value, weight}) {
  return h("tr", {}, h("th", {scope: "row"},
    h("span", {class: "why-key", dataset: {part: name}, "aria-hidden": "true"}), label,
    h("span", {class: "why-hint"}, hint)),
    h("td", {}, round(value)), h("td", {}, `× ${round(weight)}`), h("td", {}, round(value * weight, 3)));
}

/**
 * What each word gave; the `explanation` of a hit.
 * @param {{terms: {term: string, entry: number, window: number, session: number}[], question: number,
 *   speaker: number, date: number}} explanation
 */
export function terms(explanation) {
  const others = [["a part of a conversation that asks alike", explanation.question],
    ["the name of who said it", explanation.speaker], ["its date", explanation.date]]
    .filter(([, value]) => value > 0);
  return h("div", {class: "why"},
    explanation.terms?.length ? termTable(explanation.terms)
      : h("p", {class: "muted small"}, "No word of the query scored."),
    others.map(([what, value]) => h("p", {class: "muted small"}, `Also: ${what} (${round(value)}).`)));
}

function termTable(list) {
  return h("table", {class: "why-table"},
    h("caption", {}, "Text score by word"),
    h("thead", {}, h("tr", {}, ["Word", "Here", "Around it", "Its session"].map((text) =>
      h("th", {scope: "col"}, text)))),
    h("tbody", {}, list.map((one) => h("tr", {}, h("th", {scope: "row", class: "mono"}, one.term),
      [one.entry, one.window, one.session].map((value) => h("td", {}, round(value)))))));
}
