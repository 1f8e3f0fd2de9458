// model.js - what the pages say about knowledge: names of categories, and why a statement holds.

/** The categories, in the order of the page. */
export const kCategories = {
  user_preference: "User preferences",
  style: "Style",
  constraint: "Constraints",
  architecture: "Architecture",
  decision: "Decisions",
  pattern: "Patterns",
  error_solution: "Solutions to errors",
  project_fact: "Project facts",
};

/** Below this trust a statement is kept, but displaces none that is trusted. */
export const kTrustMin = 0.5;

/** @returns {string} */
export function categoryName(category) {
  return kCategories[category] ?? category;
}

/** What names one item among all: the category and key, or the entry when it has no key. */
export function identity(item) {
  return item.key ? `${item.category}\n${item.key}` : `${item.session_id}\n${item.id}`;
}

/**
 * The values that were stated, each with its statements, the one that holds first, then newest first.
 * @returns {{value: string, holds: boolean, statements: Object[]}[]}
 */
export function values(item) {
  const byValue = new Map();
  for (const statement of item.chain ?? []) {
    if (!byValue.has(statement.value)) {
      byValue.set(statement.value, {value: statement.value, holds: false, statements: []});
    }
    const group = byValue.get(statement.value);
    group.statements.push(statement);
    group.holds ||= statement.holds;
  }
  const newest = (group) => group.statements.at(-1).at;
  return [...byValue.values()].sort((a, b) =>
    Number(b.holds) - Number(a.holds) || (newest(a) < newest(b) ? 1 : -1));
}

/** Whether somebody stated what holds again, after all that speaks against it. */
export function isSettled(item) {
  const [held, ...others] = values(item);
  const against = others.flatMap(({statements}) => statements).map(({at}) => at).sort();
  // What is known already is not written twice: a second statement is a decision.
  return against.length > 0 && held.holds && held.statements.length > 1 &&
      held.statements.at(-1).at > against.at(-1);
}

/** A sentence: why a statement holds, or why it does not. */
export function why(item, group) {
  const chain = item.chain ?? [];
  const held = chain.find(({holds}) => holds);
  const last = group.statements.at(-1);
  if (!held) return "";
  if (group.holds) {
    const newer = chain.filter(({at, value}) => at > held.at && value !== held.value);
    if (newer.length === 0) return "Current: the latest statement.";
    return newer.every(({trust}) => trust < kTrustMin)
      ? `Current: later statements are less trusted (below ${kTrustMin}).`
      : "Current: later statements have not been accepted.";
  }
  if (last.review === "dropped") return "Was dropped.";
  if (last.review === "candidate") return "A candidate: accept or drop it.";
  if (last.at > held.at && last.trust < kTrustMin) {
    return `Newer, but its trust is below ${kTrustMin}: it does not replace the other.`;
  }
  return "An earlier statement.";
}
