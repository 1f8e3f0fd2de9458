// table.js - the graph as a table: the same nodes and links, for screen readers and small screens.
import {h} from "../../dom.js";
import {time} from "../../parts/parts.js";
import {kindMark, linkLine} from "./card.js";
import {addressOf, kindOf} from "./model.js";

const kRowsAtOnce = 200;
const kLinksShown = 4;

/** A table over what visible() gave. */
export function table(graph) {
  const body = h("tbody");
  const more = h("button", {type: "button", class: "button", onclick: () => grow(true)});
  const grow = (isAsked) => {
    const begin = body.rows.length;
    const end = Math.min(graph.nodes.length, begin + kRowsAtOnce);
    for (let i = begin; i < end; i++) body.append(row(graph, i));
    more.textContent = `Show ${Math.min(kRowsAtOnce, graph.nodes.length - end)} more`;
    more.hidden = end === graph.nodes.length;
    if (isAsked) body.rows[begin]?.querySelector("a")?.focus();
  };
  grow(false);
  return h("div", {class: "graph-table"},
           h("table", null,
             h("caption", {class: "hidden"},
               `${graph.nodes.length} nodes of the graph and what they are linked with`),
             h("thead", null, h("tr", null, ["What", "Headline", "Who", "When", "Linked with"].map(
                 (name) => h("th", {scope: "col"}, name)))),
             body),
           more);
}

function row(graph, index) {
  const node = graph.nodes[index];
  return h("tr", null,
           h("td", {class: "graph-kind", dataset: {label: "What"}}, kindMark(node.kind),
             kindOf(node.kind).name),
           h("th", {scope: "row"}, h("a", {href: addressOf(node)}, node.label)),
           h("td", {dataset: {label: "Who"}}, node.who ?? ""),
           h("td", {dataset: {label: "When"}}, node.timestamp ? time(node.timestamp) : ""),
           h("td", {dataset: {label: "Linked with"}}, linkList(graph, graph.links[index])));
}

function linkList(graph, links) {
  if (links.length === 0) return "nothing";
  const list = (some) => h("ul", {class: "graph-links"},
                           some.map((link) => linkLine(graph, link)));
  if (links.length <= kLinksShown) return list(links);
  const details = h("details", null, h("summary", null, `${links.length} links`));
  // Most are never opened: a session's would hold all its entries a second time.
  details.addEventListener("toggle", () => details.append(list(links)), {once: true});
  return details;
}
