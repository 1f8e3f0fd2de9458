// contradictions.js - where different things were stated under one key: all of them side by side.
import {api, path} from "../../api.js";
import {h} from "../../dom.js";
import {bar, button, count, entryUrl, short} from "../../parts/parts.js";
import {categoryName, isSettled, values, why} from "./model.js";
import {origin} from "./items.js";

/**
 * The section of contradictions; null without any. Those that somebody has settled are folded.
 * @param {{app: Object, load: () => Promise<void>}} page
 * @param {Object[]} items
 */
export function contradictions(page, items) {
  const open = items.filter((item) => !isSettled(item));
  const settled = items.filter(isSettled);
  if (items.length === 0) return null;
  return h("section", {class: "know-section", "aria-labelledby": "contradictions"},
           h("h2", {id: "contradictions"},
             open.length ? count(open.length, "contradiction") : "Contradictions"),
           h("p", {class: "muted small"}, "One key has several values. The newest " +
               "one is current, unless it is far less trusted."),
           open.map((item) => comparison(page, item)),
           settled.length > 0 && h("details", {class: "know-settled"},
                                   h("summary", null, `${settled.length} settled`),
                                   settled.map((item) => comparison(page, item))));
}

function comparison(page, item) {
  const name = item.key || short(item.value, 40);
  return h("article", {class: "card know-contradiction", "aria-label": name},
           h("h3", {class: "know-head"}, h("span", {class: "chip"}, categoryName(item.category)),
             h("span", {class: "know-key"}, name)),
           h("div", {class: "know-values"}, values(item).map((group) => side(page, item, group))));
}

function side(page, item, group) {
  const newest = group.statements.at(-1);
  return h("div", {class: group.holds ? "know-side-value is-held" : "know-side-value"},
           h("p", {class: "know-value"}, group.value),
           h("p", {class: "know-why"}, why(item, group)),
           bar(newest.confidence, "Confidence", {text: newest.confidence.toFixed(2)}),
           bar(newest.trust, "Trust", {text: newest.trust.toFixed(2),
                                       tone: newest.trust < 0.5 ? "warn" : "accent"}),
           h("ul", {class: "small"}, group.statements.map((statement) =>
             h("li", null, origin(statement), " ",
               h("a", {href: entryUrl(statement.session_id, statement.id)}, "Entry")))),
           h("div", {class: "actions"}, group.holds
             ? h("span", {class: "chip chip-pin"}, "Holds")
             : sideButtons(page, item, group)));
}

function sideButtons(page, item, group) {
  const keep = button("Keep this one", () => state(page, item, group), {
    "aria-label": `Keep this one: ${short(group.value, 60)}`,
  });
  // A version of the entry that holds can't be deleted without what holds.
  const isApart = group.statements.every(({id, session_id: session}) =>
    id !== item.id || session !== item.session_id);
  const forget = isApart && button("Forget", () => forgetValue(page, group), {
    kind: "quiet",
    "aria-label": `Forget: ${short(group.value, 60)}`,
  });
  return [item.key && keep, forget];
}

/** States the value anew, so that it is the newest. */
async function state(page, item, group) {
  const confidence = Math.max(item.confidence, ...group.statements.map((one) => one.confidence));
  try {
    const {holds} = await api.post("/memory/knowledge", {
      category: item.category,
      key: item.key,
      value: group.value,
      confidence,
      tags: item.tags ?? [],
    });
    page.app.toast(holds ? `Kept: ${short(group.value, 60)}`
      : "Repeated, but a more trusted value remains current.");
    await page.load();
  } catch (error) {
    page.app.toast(error.message, {tone: "danger"});
  }
}

async function forgetValue(page, group) {
  const entries = new Map(group.statements.map((one) => [`${one.session_id}/${one.id}`, one]));
  const isSure = await page.app.confirm({
    title: "Forget this value?",
    text: [short(group.value, 200), `${count(entries.size, "entry", "entries")} will be deleted. ` +
        "You can restore them on the page Health until they are purged."],
    action: "Forget",
    danger: true,
  });
  if (!isSure) return;
  try {
    for (const {session_id: session, id} of entries.values()) {
      await api.del(path("memory", "record", id), {session_id: session});
    }
    const ids = [...new Set(group.statements.map(({id}) => id))];
    page.app.toast(`Forgotten: ${short(group.value, 60)}`, {
      action: "Undo",
      onAction: () => undelete(page, ids),
    });
  } catch (error) {
    page.app.toast(error.message, {tone: "danger"});
  }
  await page.load();
}

async function undelete(page, ids) {
  try {
    await api.post("/memory/undelete", {ids});
  } catch (error) {
    page.app.toast(error.message, {tone: "danger"});
  }
  await page.load();
}
