// markdown.js - lays out a text in Markdown, as elements.
//
// It knows what summaries and artifacts use: headings, paragraphs, lists, quotes, code, tables,
// emphasis, links. HTML in a text stays text; a link leads to http and https only. Anything else is
// shown as it stands. Each line is looked at once, so that no text takes long.
import {h} from "../dom.js";

const kInlineMax = 10000;
const kQuoteDepthMax = 5;

/**
 * @param {string} text
 * @returns {HTMLElement[]} blocks; headings begin at <h3>
 */
export function markdown(text, depth = 0) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (lines[at].trim() === "") {
      at += 1;
      continue;
    }
    const reader = kReaders.find(({begins}) => begins(lines[at], lines[at + 1])) ?? kParagraph;
    const end = reader.end(lines, at);
    blocks.push(reader.make(lines.slice(at, end), depth));
    at = end;
  }
  return blocks;
}

const isFence = (line) => /^\s*(```|~~~)/.test(line);
const isHeading = (line) => /^#{1,6}\s/.test(line);
const isItem = (line) => /^\s*([-*+]|\d{1,9}[.)])\s/.test(line);
const isQuote = (line) => line.startsWith(">");
const isRule = (line) => /^\s*([-*_])(\s*\1){2,}\s*$/.test(line);
const isAside = (line) => /^_[^_\s][^_]*_\s*$/.test(line);
const isTable = (line, next) => line.includes("|") && /^\s*\|?[\s:|-]*-[\s:|-]*$/.test(next ?? "") && (next ?? "").includes("|");

/** The first line after `at` for which `goes` is false. */
function firstNot(lines, at, goes) {
  let end = at + 1;
  while (end < lines.length && goes(lines[end], lines[end + 1])) {
    end += 1;
  }
  return end;
}

function fenceEnd(lines, at) {
  return Math.min(lines.length, firstNot(lines, at, (line) => !isFence(line)) + 1);
}

function codeBlock(lines) {
  const closed = lines.length > 1 && isFence(lines.at(-1));
  return h("pre", {}, h("code", {}, lines.slice(1, closed ? -1 : undefined).join("\n")));
}

function heading([line]) {
  const level = Math.min(6, line.indexOf(" ") + 2);
  return h(`h${level}`, {}, inline(line.replace(/^#+\s+/, "").replace(/\s#+$/, "")));
}

function list(lines) {
  const items = [];
  for (const line of lines) {
    const item = /^(\s*)(?:[-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line);
    if (item) {
      items.push({indent: Math.min(3, Math.floor(item[1].length / 2)), text: item[2]});
    } else if (items.length > 0) {
      items.at(-1).text += ` ${line.trim()}`;
    }
  }
  return h(/^\s*\d/.test(lines[0]) ? "ol" : "ul", {}, items.map(({indent, text}) =>
    h("li", {dataset: {indent}}, inline(text.replace(/^\[( |x|X)\]\s/, (_, done) => (done === " " ? "☐ " : "☑ "))))));
}

function quote(lines, depth) {
  const inner = lines.map((line) => line.replace(/^>\s?/, ""));
  return h("blockquote", {}, depth < kQuoteDepthMax ? markdown(inner.join("\n"), depth + 1) : inner.join("\n"));
}

function table(lines) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => inline(cell.trim()));
  return h("div", {class: "md-table", tabindex: 0, role: "region", "aria-label": "Table"}, h("table", {},
    h("thead", {}, h("tr", {}, cells(lines[0]).map((cell) => h("th", {scope: "col"}, cell)))),
    h("tbody", {}, lines.slice(2).map((line) => h("tr", {}, cells(line).map((cell) => h("td", {}, cell)))))));
}

const kReaders = [
  {begins: isFence, end: fenceEnd, make: codeBlock},
  {begins: isHeading, end: (_, at) => at + 1, make: heading},
  {begins: isRule, end: (_, at) => at + 1, make: () => h("hr")},
  // What summaries say below a heading of what belongs there.
  {begins: isAside, end: (_, at) => at + 1, make: ([line]) => h("p", {class: "muted small"}, h("em", {}, line.trim().slice(1, -1)))},
  {begins: isQuote, end: (lines, at) => firstNot(lines, at, isQuote), make: quote},
  {begins: isTable, end: (lines, at) => firstNot(lines, at, (line) => line.includes("|")), make: table},
  {begins: isItem, end: (lines, at) => firstNot(lines, at, (line) => isItem(line) || /^\s+\S/.test(line)), make: list},
];
const kParagraph = {
  end: (lines, at) => firstNot(lines, at, (line, next) => line.trim() !== "" && !kReaders.some(({begins}) => begins(line, next))),
  make: (lines) => h("p", {}, inline(lines.join("\n"))),
};

/** Emphasis, code and links inside a block. */
function inline(text) {
  if (text.length > kInlineMax) {
    return [text];
  }
  const parts = [];
  const marks = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*|(?<![\p{L}\p{N}_])_([^_\s][^_\n]*)_(?![\p{L}\p{N}_])|\[([^\]\n]+)\]\(([^()\s]+)\)/gu;
  let at = 0;
  for (const found of text.matchAll(marks)) {
    parts.push(text.slice(at, found.index), mark(found));
    at = found.index + found[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}

function mark([whole, code, strong, starred, underlined, label, target]) {
  const emphasis = starred ?? underlined;
  if (code !== undefined) {
    return h("code", {}, code);
  }
  if (strong !== undefined) {
    return h("strong", {}, strong);
  }
  if (emphasis !== undefined) {
    return h("em", {}, emphasis);
  }
  return /^https?:\/\//i.test(target)
    ? h("a", {href: target, target: "_blank", rel: "noopener noreferrer"}, label) : whole;
}
