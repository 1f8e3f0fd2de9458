// model.js - the graph of the server as the page draws it: nodes by number, edges between them, and
// for each kind a name, a shape and a colour.

/** What a node may be. The shape tells kinds apart without the colour. */
export const kKinds = {
  session: {name: "Session", shape: "M-9-9h18v18h-18z", radius: 13},
  topic: {name: "Topic", shape: "M0-9 9 0 0 9-9 0z", radius: 12},
  decision: {name: "Decision", shape: "M0-8 8 6H-8z", radius: 10},
  finding: {name: "Finding", shape: "M0-7 6.7-2.2 4.1 5.7h-8.2L-6.7-2.2z", radius: 9},
  conversation: {name: "Message", shape: "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0", radius: 8},
  fact: {name: "Fact", shape: "M-6-6h12v12h-12z", radius: 9},
  preference: {name: "Preference", shape: "M0-8 2 -2 8 0 2 2 0 8-2 2-8 0-2-2z", radius: 10},
  event: {name: "Event", shape: "M-2-7h4v5h5v4h-5v5h-4v-5h-5v-4h5z", radius: 9},
  agent_state: {name: "Agent state", shape: "M0 8 8-6H-8z", radius: 10},
  artifact: {name: "Artifact", shape: "M-5.5-7h7l4 4v10h-11z", radius: 10},
};

/** The kind of a node, with a name and a shape also for kinds that are not known here. */
export function kindOf(kind) {
  return kKinds[kind] ?? {...kKinds.conversation, name: kind};
}

/** What links two nodes, and how a person would say it. */
export const kRelations = {
  references: {name: "Reference", phrase: "refers to", back: "referred to by"},
  solves: {name: "Solves", phrase: "solves", back: "solved by"},
  causes: {name: "Causes", phrase: "causes", back: "caused by"},
  supersedes: {name: "Supersedes", phrase: "supersedes", back: "superseded by"},
  refines: {name: "Refines", phrase: "refines", back: "refined by"},
  same_topic: {name: "Shared topic", phrase: "about", back: "about"},
  in_session: {name: "In a session", phrase: "in", back: "holds"},
};

/** Where a person finds a node: its entry, its session, or a search for its topic. */
export function addressOf(node) {
  const part = encodeURIComponent;
  if (node.kind === "session") return `/session/${part(node.session_id ?? node.id.slice(2))}`;
  if (node.kind === "topic") return `/search?topic=${part(node.id.slice(2))}`;
  const id = node.id.slice(node.id.indexOf("/") + 1);
  return `/entry/${part(node.session_id)}/${part(id)}`;
}

/**
 * The part of a graph that is to be seen.
 * @param {{nodes: Object[], edges: Object[]}} graph as GET /memory/graph answers
 * @param {Set<string>} hiddenKinds
 * @param {Set<string>} hiddenRelations
 * @returns {{nodes: Object[], edges: {a: number, b: number, relation: string}[],
 *   links: {node: number, relation: string, isBack: boolean}[][]}} `links` by node
 */
export function visible(graph, hiddenKinds, hiddenRelations) {
  const nodes = inOrder(graph.nodes.filter((node) => !hiddenKinds.has(node.kind)));
  const places = new Map(nodes.map((node, i) => [node.id, i]));
  const links = nodes.map(() => []);
  const edges = [];
  for (const {from, to, relation} of graph.edges) {
    const [a, b] = [places.get(from), places.get(to)];
    if (a === undefined || b === undefined || a === b || hiddenRelations.has(relation)) continue;
    edges.push({a, b, relation});
    links[a].push({node: b, relation, isBack: false});
    links[b].push({node: a, relation, isBack: true});
  }
  return {nodes, edges, links};
}

/** Sessions with their entries, oldest first, then topics: the order of the table and of Tab. */
function inOrder(nodes) {
  const begin = new Map();
  for (const {session_id: session = "", timestamp = ""} of nodes) {
    const known = begin.get(session);
    if (timestamp && (!known || timestamp < known)) begin.set(session, timestamp);
  }
  const key = (node) => [
    node.kind === "topic" ? "1" : "0",
    begin.get(node.session_id ?? "") ?? "",
    node.session_id ?? "",
    node.kind === "session" ? "0" : "1",
    node.timestamp ?? "",
    node.id,
  ].join("\u0001");
  return nodes.map((node) => [key(node), node])
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, node]) => node);
}

/** What a screen reader says of a node. */
export function spoken(node, links) {
  const count = links.length;
  return `${kindOf(node.kind).name}: ${node.label}. ${count} ${count === 1 ? "link" : "links"}.`;
}
