// decay.js - how much entries count as they age: a line for each type over a year, and how many
// entries count how much now.
import {h, put, svg} from "../../dom.js";
import {button, kTypes, typeBadge} from "../../parts/parts.js";
import {asTable, number, section} from "./sections.js";

const kWidth = 640;
const kHeight = 260;
const kLeft = 36;
const kRight = 12;
const kTop = 10;
const kBottom = 30;
/** Lines differ by their dashes too, not by colour alone. */
const kDashes = ["", "7 3", "2 3", "10 3 2 3", "4 2", "12 4", "1 4", "6 2 1 2"];

/** Ages are drawn by their square root: most happens in the first weeks. */
function xOf(age, oldest) {
  return kLeft + Math.sqrt(age / oldest) * (kWidth - kLeft - kRight);
}

function yOf(factor) {
  return kTop + (1 - factor) * (kHeight - kTop - kBottom);
}

/** The section of decay: a chart whose model can be chosen, and a histogram. */
export function decay({curve, sessions}) {
  const models = [...new Set(curve.lines.map(({model}) => model))];
  const used = curve.lines.find(({is_used: isUsed}) => isUsed)?.model ?? models[0];
  const place = h("div", {class: "health-chart"});
  const buttons = models.map((model) =>
    button(model === used ? `${model} (in use)` : model, () => show(model), {"data-model": model}));
  const show = (model) => {
    for (const one of buttons) one.setAttribute("aria-pressed", one.dataset.model === model);
    put(place, chart(curve, model));
  };
  show(used);
  return section("Decay", {
    wide: true,
    actions: [h("div", {class: "actions", role: "group", "aria-label": "Model"}, buttons)],
    hint: "The score factor of an entry without accesses, by its age in days. " +
        "Pinned entries do not decay.",
  }, h("div", {class: "health-decay"}, place, histogram(sessions)));
}

function chart({ages_days: ages, lines}, model) {
  const shown = lines.filter((line) => line.model === model);
  const oldest = ages.at(-1);
  const describe = `Decay by the ${model} model. After ${oldest} days: ${shown.map((line) =>
    `${label(line.type)} ${line.factors.at(-1).toFixed(2)}`).join(", ")}.`;
  return [
    svg("svg", {viewBox: `0 0 ${kWidth} ${kHeight}`, role: "img", "aria-label": describe},
        grid(ages, oldest), shown.map((line, i) => curveLine(line, ages, oldest, i))),
    h("ul", {class: "health-legend", "aria-hidden": "true"}, shown.map(({type}, i) =>
      h("li", null, svg("svg", {viewBox: "0 0 28 8", class: "health-key", dataset: {type}},
        svg("path", {class: "health-curve", d: "M0 4h28", "stroke-dasharray": kDashes[i % kDashes.length]})),
      label(type)))),
    asTable(`Decay by the ${model} model`,
            [{text: "Type"}, ...ages.map((age) => ({text: `${age} d`, number: true}))],
            shown.map(({type, factors}) => [typeBadge(type), ...factors.map((f) => f.toFixed(3))])),
  ];
}

function label(type) {
  return kTypes[type]?.label ?? type;
}

function grid(ages, oldest) {
  const levels = [0, 0.25, 0.5, 0.75, 1].map((factor) => [
    svg("path", {class: "health-grid", d: `M${kLeft} ${yOf(factor)}H${kWidth - kRight}`}),
    svg("text", {class: "health-axis", x: kLeft - 6, y: yOf(factor), dy: "0.32em", "text-anchor": "end"},
        factor),
  ]);
  const times = ages.map((age) => [
    svg("path", {class: "health-grid", d: `M${xOf(age, oldest)} ${kTop}V${kHeight - kBottom + 4}`}),
    svg("text", {class: "health-axis", x: xOf(age, oldest), y: kHeight - kBottom + 18,
                 "text-anchor": age === oldest ? "end" : "middle"}, age === oldest ? `${age} days` : age),
  ]);
  return [levels, times];
}

function curveLine({type, factors}, ages, oldest, i) {
  const points = factors.map((factor, at) => `${xOf(ages[at], oldest).toFixed(1)} ${yOf(factor).toFixed(1)}`);
  return svg("path", {class: "health-curve", dataset: {type}, d: `M${points.join("L")}`,
                      "stroke-dasharray": kDashes[i % kDashes.length]},
             svg("title", null, label(type)));
}

/** How many entries of all sessions have which factor. */
function histogram(sessions) {
  const counts = Array.from({length: 10}, (_, i) => sessions.reduce((sum, one) => sum + one.histogram[i], 0));
  const total = counts.reduce((sum, n) => sum + n, 0);
  const strong = counts.slice(5).reduce((sum, n) => sum + n, 0);
  const range = (i) => `${(i / 10).toFixed(1)} to ${((i + 1) / 10).toFixed(1)}`;
  return h("div", {class: "health-chart"},
           h("h3", null, "Entries by decay factor now"),
           svg("svg", {viewBox: `0 0 ${kWidth / 2} ${kHeight}`, role: "img",
                       "aria-label": `${strong} of ${total} entries have a factor of 0.5 or more.`},
               columns(counts, range)),
           asTable("Entries by decay factor",
                   [{text: "Factor"}, {text: "Entries", number: true}],
                   counts.map((n, i) => [range(i), number(n)])));
}

function columns(counts, range) {
  const most = Math.max(1, ...counts);
  const left = 10;
  const width = (kWidth / 2 - 2 * left) / counts.length;
  const height = kHeight - kTop - kBottom;
  const name = (i) => svg("text", {class: "health-axis", x: left + i * width, y: kHeight - kBottom + 18,
                                   "text-anchor": "middle"}, (i / 10).toFixed(1));
  const bars = counts.map((n, i) => {
    const size = n > 0 ? Math.max(2, (n / most) * (height - 16)) : 0;
    return [
      svg("rect", {class: "health-bar", x: left + i * width + 2, y: kTop + height - size, width: width - 4,
                   height: size, rx: 2}, svg("title", null, `${range(i)}: ${n}`)),
      n > 0 && svg("text", {class: "health-axis", x: left + (i + 0.5) * width, y: kTop + height - size - 4,
                            "text-anchor": "middle"}, n),
      name(i),
    ];
  });
  return [bars, name(counts.length)];
}
