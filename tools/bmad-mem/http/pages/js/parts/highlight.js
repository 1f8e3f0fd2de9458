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
