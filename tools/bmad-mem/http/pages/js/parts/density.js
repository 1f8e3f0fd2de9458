// density.js - how much was written when, as bars; each filters the timeline to its hour.
import {h, svg} from "../dom.js";
import {absolute, count, kTypes, local} from "./parts.js";

const kHourMs = 3600000;
const kBarsMax = 120;
const kHeight = 64;
const kStep = 10;

/**
 * @param {{begin: string, total: number, types: Object}[]} buckets by hour; hours without entries
 *   are left out. More than 120 are put together by day.
 * @param {{since: string, until: string}} chosen the hour that is filtered to, if any
 * @param {(range: {since: string, until: string}|null) => void} onChoose null: show all again
 * @returns {HTMLElement|null}
 */
export function density(buckets, chosen, onChoose) {
  if (buckets.length < 2) {
    return null;
  }
  const size = buckets.length > kBarsMax ? 24 * kHourMs : kHourMs;
  const bars = size === kHourMs ? buckets : byDay(buckets);
  const most = Math.max(...bars.map(({total}) => total));
  const chart = svg("svg", {class: "density-chart", viewBox: `0 0 ${bars.length * kStep} ${kHeight}`,
    preserveAspectRatio: "none", role: "group", "aria-label": "Entries by time; choose one to see that time only",
    onkeydown: (event) => onKey(event, chart)},
    bars.map((bucket, index) => barOf(bucket, index, {most, size, chosen, onChoose})));
  const now = [...chart.children].find((one) => one.getAttribute("aria-pressed") === "true") ?? chart.firstChild;
  now.setAttribute("tabindex", "0");
  return h("figure", {class: "density", vars: {"--bars": bars.length}}, chart, h("figcaption", {class: "density-labels"},
    h("span", {}, when(bars[0].begin, size)),
    h("span", {}, size === kHourMs ? "by hour; hours without entries are omitted" : "by day"),
    h("span", {}, when(bars.at(-1).begin, size))));
}

/** An hour at the place of the reader; days are those of UTC. */
function when(begin, size) {
  return size === kHourMs ? local(begin).slice(0, 16) : `${absolute(begin).slice(0, 10)} UTC`;
}

function byDay(buckets) {
  const days = new Map();
  for (const {begin, total, types} of buckets) {
    const day = `${begin.slice(0, 10)}T00:00:00.000Z`;
    const sum = days.get(day) ?? {begin: day, total: 0, types: {}};
    sum.total += total;
    for (const [type, n] of Object.entries(types)) {
      sum.types[type] = (sum.types[type] ?? 0) + n;
    }
    days.set(day, sum);
  }
  return [...days.values()];
}

function barOf({begin, total, types}, index, {most, size, chosen, onChoose}) {
  const isChosen = chosen.since === begin && Boolean(chosen.until);
  const choose = () => onChoose(isChosen ? null
    : {since: begin, until: new Date(new Date(begin).getTime() + size - 1).toISOString()});
  const label = `${when(begin, size)}: ${count(total, "entry", "entries")}`;
  const bar = svg("g", {class: "density-bar", role: "button", tabindex: -1, "aria-label": label,
    "aria-pressed": String(isChosen), onclick: choose,
    onkeydown: (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose();
      }
    }},
    svg("title", {}, label),
    svg("rect", {class: "density-area", x: index * kStep, y: 0, width: kStep, height: kHeight}));
  let y = kHeight;
  for (const type of Object.keys(kTypes).filter((name) => types[name] > 0)) {
    const height = (types[type] / most) * (kHeight - 4);
    y -= height;
    bar.append(svg("rect", {dataset: {type}, class: "density-part", x: index * kStep + 1, y, width: kStep - 2, height}));
  }
  return bar;
}

/** Tab comes to the chart once; the arrows move in it. */
function onKey(event, chart) {
  const steps = {ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity};
  if (!(event.key in steps)) {
    return;
  }
  event.preventDefault();
  const bars = [...chart.children];
  const at = bars.indexOf(document.activeElement);
  const to = bars[Math.min(bars.length - 1, Math.max(0, at + steps[event.key]))];
  for (const bar of bars) {
    bar.setAttribute("tabindex", bar === to ? "0" : "-1");
  }
  to.focus();
}
