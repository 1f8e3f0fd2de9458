// items.js - one thing that is known, in the lists of the page Knowledge.
import {h} from "../../dom.js";
import {sessionName} from "../../parts/session_names.js";
import {bar, entryUrl, marks, sessionUrl, time} from "../../parts/parts.js";

/** Who stated it, when and where. */
export function origin({agent_id: agent, source_kind: kind, origin: by, at, updated_at: updated, session_id: session, references = []}) {
  return h("span", {class: "know-origin"},
           agent && h("span", null, agent),
           by === "elsewhere" && h("span", null, "from elsewhere"),
           by === "agent" && !agent && h("span", null, "by an agent"),
           kind && h("span", null, `from ${kind === "user" ? "the user" : kind}`),
           time(at ?? updated),
           h("a", {href: sessionUrl(session)}, sessionName(session)),
           references.map((id, i) => h("a", {href: entryUrl(session, id), title: id}, i ? `source ${i + 1}` : "source")));
}

/** Two numbers that say how far to rely on it. */
export function meters({confidence, score}) {
  return h("div", {class: "know-meters"},
           bar(confidence, "Confidence", {text: (confidence ?? 0).toFixed(2)}),
           score === undefined ? null
             : h("span", {class: "muted small",
                          title: "Confidence, raised by recency and accesses (0 to 2)"},
                 `Score ${score.toFixed(2)}`));
}

/** The value, cut to a few lines; all of it is in the entry. */
export function valueText(value) {
  return h("p", {class: "know-value"}, value);
}

/** An item with all that is known about it. Give the list to roving(). */
export function itemRow(item) {
  const chain = item.chain ?? [];
  return h("li", {class: "row know-item", dataset: {id: item.id}},
           h("div", {class: "know-main"},
             h("div", {class: "know-text"},
               h("p", {class: "know-head"},
                 h("a", {class: "know-key", href: entryUrl(item.session_id, item.id), "data-item": true},
                   item.key || h("span", {class: "row-text"}, item.value)),
                 marks(item),
                 item.contradicted && h("span", {class: "chip chip-warn"}, "Contradicted"),
                 (item.tags ?? []).map((tag) => h("span", {class: "chip"}, `#${tag}`))),
               item.key && valueText(item.value),
               origin(item)),
             meters(item)),
           chain.length > 1 && h("details", {class: "know-chain"},
                                 h("summary", null, `${chain.length} statements`),
                                 h("ol", null, [...chain].reverse().map(statement))));
}

function statement(version) {
  const {value, confidence, trust, holds, review} = version;
  return h("li", {class: holds ? "know-statement is-held" : "know-statement"},
           h("p", {class: "know-value"}, value),
           h("p", {class: "muted small"}, holds ? "Holds. " : "",
             `Confidence ${confidence.toFixed(2)}, trust ${trust.toFixed(2)}`,
             review ? `, ${review}` : "", ". ", origin(version), " ",
             h("a", {href: entryUrl(version.session_id, version.id)}, "Entry")));
}
