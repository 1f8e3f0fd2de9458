// card.js - what a node of the graph is, in words: for the card beside the drawing and the table.
import {h, svg} from "../../dom.js";
import {time} from "../../parts/parts.js";
import {addressOf, kRelations, kindOf} from "./model.js";

const kLinksShown = 8;

/** The small picture of a kind, for the legend, the card and the table. */
export function kindMark(kind) {
  return svg("svg", {class: "graph-mark", viewBox: "-12 -12 24 24", dataset: {type: kind},
                     "aria-hidden": "true"},
             svg("path", {class: "graph-shape", d: kindOf(kind).shape}));
}

/** What a node is and where it leads, with its first neighbours. */
export function card(graph, index) {
  const node = graph.nodes[index];
  const links = graph.links[index];
  const more = links.length - kLinksShown;
  return [
    h("p", {class: "graph-card-kind"}, kindMark(node.kind),
      h("span", null, kindOf(node.kind).name, node.who ? ` by ${node.who}` : ""),
      node.timestamp && time(node.timestamp)),
    h("p", {class: "graph-card-title"}, h("a", {href: addressOf(node)}, node.label)),
    links.length > 0 && h("ul", {class: "graph-links"},
                          links.slice(0, kLinksShown).map((link) => linkLine(graph, link))),
    more > 0 && h("p", {class: "muted small"}, `and ${more} more`),
  ];
}

/** "refers to Use Convex", with a link. */
export function linkLine(graph, {node, relation, isBack}) {
  const other = graph.nodes[node];
  const {phrase, back} = kRelations[relation] ?? {phrase: relation, back: relation};
  return h("li", null, h("span", {class: "muted"}, `${isBack ? back : phrase} `),
           kindMark(other.kind), h("a", {href: addressOf(other)}, other.label));
}
