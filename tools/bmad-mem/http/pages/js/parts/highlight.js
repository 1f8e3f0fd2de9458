// highlight.js - shows where a hit's text matched.
import {h} from "../dom.js";

/**
 * The text with its highlights as <mark>.
 * @param {string} text
 * @param {{offset: number, size: number}[]} highlights in bytes of UTF-8, as the API counts; what
 *   overlaps or lies outside is left out.
 * @returns {(string|HTMLElement)[]} children of h()
 */
export function highlighted(text, highlights = []) {
  const all = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const parts = [];
  let at = 0;
  for (const {offset, size} of [...highlights].sort((a, b) => a.offset - b.offset)) {
    if (offset < at || offset + size > all.length || size <= 0) {
      continue;
    }
    parts.push(decoder.decode(all.subarray(at, offset)));
    parts.push(h("mark", {}, decoder.decode(all.subarray(offset, offset + size))));
    at = offset + size;
  }
  parts.push(decoder.decode(all.subarray(at)));
  return parts;
}

/**
 * The fields that a snippet joins by " · ", each once, with its own highlights.
 * @param {string} snippet
 * @param {{offset: number, size: number}[]} highlights as for highlighted()
 * @returns {{text: string, highlights: Object[]}[]}
 */
export function snippetFields(snippet, highlights = []) {
  const size = (text) => new TextEncoder().encode(text).length;
  const fields = [];
  let begin = 0;
  for (const text of snippet.split(" · ")) {
    const end = begin + size(text);
    const own = highlights.filter(({offset, size: length}) => offset >= begin && offset + length <= end)
      .map((one) => ({...one, offset: one.offset - begin}));
    const isKnown = fields.some((other) => other.text.toLowerCase().includes(text.trim().toLowerCase()));
    if (text.trim() && !isKnown) {
      fields.push({text, highlights: own});
    }
    begin = end + size(" · ");
  }
  return fields;
}

/**
 * What a hit says: its headline, marked where it matched, and below it what else matched.
 * @param {{headline: string, snippet: string, highlights: Object[], id: string}} hit
 * @returns {HTMLElement[]}
 */
export function hitText({headline, snippet, highlights, id}) {
  const fields = snippetFields(snippet ?? "", highlights);
  const title = headline || fields[0]?.text || id;
  const core = (text) => text.replace(/^…|…$/g, "").trim();
  const isInTitle = ({text}) => core(text) !== "" && (title.includes(core(text)) || core(text).includes(core(title)));
  const said = fields.find(isInTitle);
  const others = fields.filter((field) => !isInTitle(field) && field.highlights.length > 0);
  // The longer of the two is shown: a headline is cut, and a snippet begins somewhere.
  const top = !said ? [title]
    : said.text.length >= title.length ? highlighted(said.text, said.highlights)
      : [title.slice(0, title.indexOf(core(said.text))), ...highlighted(core(said.text), shifted(said)),
        title.slice(title.indexOf(core(said.text)) + core(said.text).length)];
  return [h("span", {class: "row-text"}, top),
    others.map((field) => h("span", {class: "row-also"}, highlighted(field.text, field.highlights)))];
}

/** The highlights of a field without what stands before its first letter. */
function shifted({text, highlights}) {
  const cut = new TextEncoder().encode(text.slice(0, text.length - text.replace(/^…?\s*/, "").length)).length;
  return highlights.map((one) => ({...one, offset: one.offset - cut})).filter(({offset}) => offset >= 0);
}
