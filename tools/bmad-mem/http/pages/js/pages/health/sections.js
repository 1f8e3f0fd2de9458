// sections.js - what the sections of the page Health are made of.
import {h} from "../../dom.js";

let last = 0;

/** @returns {HTMLElement} a card with a heading; `wide` takes the whole width. */
export function section(title, {wide = false, hint = "", actions = []}, ...content) {
  last += 1;
  const id = `health-${last}`;
  return h("section", {class: wide ? "card health-card is-wide" : "card health-card", "aria-labelledby": id},
           h("div", {class: "health-head"}, h("h2", {id}, title),
             actions.length ? h("div", {class: "actions"}, actions) : null),
           hint && h("p", {class: "muted small"}, hint),
           content);
}

/**
 * A table that can be scrolled where it is too wide.
 * @param {string} caption for those who don't see it
 * @param {{text: string, number?: boolean}[]} columns
 * @param {*[][]} rows cells as children of h(); the first one names its row
 */
export function dataTable(caption, columns, rows) {
  const style = ({number: isNumber = false}) => (isNumber ? "is-number" : null);
  return h("div", {class: "health-table", tabindex: 0, role: "region", "aria-label": caption},
           h("table", null,
             h("caption", {class: "hidden"}, caption),
             h("thead", null, h("tr", null, columns.map((column) =>
               h("th", {scope: "col", class: style(column)}, column.text)))),
             h("tbody", null, rows.map((cells) => h("tr", null, cells.map((cell, i) =>
               h(i === 0 ? "th" : "td", {scope: i === 0 ? "row" : null, class: style(columns[i])},
                 cell)))))));
}

/** A table behind a click: the same as a chart, in numbers. */
export function asTable(...table) {
  return h("details", {class: "health-numbers"}, h("summary", null, "In numbers"), dataTable(...table));
}

/** @returns {string} "1,234" */
export function number(n) {
  return Number(n ?? 0).toLocaleString("en");
}
