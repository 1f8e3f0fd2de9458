// related.js - what an entry is linked to, by how.
import {h} from "../dom.js";
import {entryRow} from "./parts.js";
import {roving} from "./list.js";

const kRelations = [["solves", "Solves"], ["solved_by", "Solved by"], ["causes", "Causes"],
  ["caused_by", "Caused by"], ["supersedes", "Supersedes"], ["superseded_by", "Superseded by"],
  ["refines", "Refines"], ["refined_by", "Refined by"], ["references", "Refers to"], ["referenced_by", "Referred to by"],
  ["same_topic", "On the same topic"], ["similar", "Similar"]];

/**
 * @param {{entry: Object, relation: string, relevance: number}[]} related
 * @returns {HTMLElement|null} null when there is nothing.
 */
export function relatedGroups(related) {
  const names = new Map(kRelations);
  const groups = [...new Set([...names.keys(), ...related.map(({relation}) => relation)])]
    .map((relation) => ({title: names.get(relation) ?? relation,
      entries: related.filter((one) => one.relation === relation).map(({entry}) => entry)}))
    .filter(({entries}) => entries.length > 0);
  if (groups.length === 0) {
    return null;
  }
  return h("section", {class: "related", "aria-label": "Related entries"}, groups.map(({title, entries}) => {
    const list = h("ul", {class: "rows"}, entries.map((entry) => entryRow(entry)));
    roving(list);
    return [h("h2", {}, title, h("span", {class: "muted small"}, ` ${entries.length}`)), list];
  }));
}
