// candidates.js - what was found without being told, to be accepted or dropped.
//
// An answer takes the candidate out of the list at once and gives the focus to the next one, so that
// a person goes through them with `a` and `d` alone.
import {api, path} from "../../api.js";
import {h} from "../../dom.js";
import {button, count, short} from "../../parts/parts.js";
import {roving} from "../../parts/list.js";
import {categoryName} from "./model.js";
import {meters, origin, valueText} from "./items.js";

const kAnswers = {
  accepted: {label: "Accept", done: "Accepted", key: "a"},
  dropped: {label: "Drop", done: "Dropped", key: "d"},
};

/** The section of candidates; calls `page.load()` when something was changed. */
export class Candidates {
  /** @param {{app: Object, load: () => Promise<void>}} page */
  constructor(page) {
    this.page = page;
    this.list = h("ul", {class: "rows"});
    this.heading = h("h2", {tabindex: -1, id: "candidates"});
    this.section = h("section", {class: "know-section", "aria-labelledby": "candidates"},
                     this.heading,
                     h("p", {class: "muted small"}, "Stated by agents, or found in messages. Until you accept " +
                         "it, a briefing only quotes an agent's candidate. A dropped candidate does not return. ",
                       h("kbd", {}, kAnswers.accepted.key), " accepts the candidate in focus, ",
                       h("kbd", {}, kAnswers.dropped.key), " drops it; the next one gets the focus."),
                     this.list);
    page.app.keys(Object.entries(kAnswers).map(([review, {label, key}]) =>
      ({keys: key, text: `${label} the candidate`, run: () => this.#answerFocused(review)})));
  }

  /** Shows `items`. */
  show(items) {
    const focused = document.activeElement?.closest?.(".know-candidate")?.dataset.id;
    this.list.replaceChildren(...items.map((item) => this.#row(item)));
    this.#count();
    roving(this.list);
    if (focused) this.#focus(this.#rowOf(focused) ?? this.list.firstElementChild);
  }

  #count() {
    const left = this.list.children.length;
    this.section.hidden = left === 0;
    this.heading.textContent = count(left, "candidate");
  }

  #row(item) {
    const buttons = Object.entries(kAnswers).map(([review, {label, key}]) =>
      button(label, () => this.answer(item, review), {
        kind: review === "accepted" ? "primary" : "",
        "aria-keyshortcuts": key,
        "aria-label": `${label}: ${short(item.value, 60)}`,
      }));
    return h("li", {class: "row know-candidate", dataset: {id: item.id}},
             h("div", {class: "know-main"},
               h("div", {class: "know-text", tabindex: -1, "data-item": true, role: "group",
                         "aria-label": `${categoryName(item.category)}: ${short(item.value, 120)}`},
                 h("p", {class: "know-head"},
                   h("span", {class: "chip"}, categoryName(item.category)),
                   item.key && h("span", {class: "know-key"}, item.key),
                   item.review === "stated" && h("span", {class: "chip"}, "Stated by you, in force"),
                   item.sensitive && h("span", {class: "chip chip-warn"}, "Sensitive")),
                 valueText(item.value),
                 item.replaces_id && h("p", {class: "muted small"}, "In place of: ", item.replaces_value),
                 // No link to an entry: most become one only when they are answered.
                 origin(item)),
               h("div", {class: "know-side"}, meters({confidence: item.confidence}),
                 h("div", {class: "actions"}, buttons))));
  }

  #rowOf(id) {
    return [...this.list.children].find((row) => row.dataset.id === id);
  }

  #focus(row) {
    row?.querySelector("[data-item]").focus();
  }

  /** Where none has the focus, the first gets it: nobody answers what they have not seen. */
  #answerFocused(review) {
    const row = document.activeElement?.closest?.(".know-candidate");
    if (!row) {
      this.#focus(this.list.firstElementChild);
      return;
    }
    row.querySelector(`[aria-keyshortcuts="${kAnswers[review].key}"]`).click();
  }

  /** Accepts or drops one. */
  async answer(item, review) {
    const row = this.#rowOf(item.id);
    if (!row || row.dataset.busy) return;
    row.dataset.busy = "1";
    const {app} = this.page;
    try {
      const {unknown_ids: unknown} = await api.post("/memory/knowledge/review",
                                                    {ids: [item.id], review});
      this.#leave(row);
      const text = unknown.length
        ? "This candidate is already answered."
        : `${kAnswers[review].done}: ${short(item.value, 60)}`;
      app.announce(text);
      const isFinal = unknown.length || item.review === "stated";  // A candidate it never was.
      app.toast(text, isFinal ? {} : {action: "Undo", onAction: () => this.#undo(item)});
    } catch (error) {
      delete row.dataset.busy;
      app.toast(error.message, {tone: "danger"});
    }
    await this.page.load();
  }

  /** The next one gets the focus, if this one had it. */
  #leave(row) {
    const hadFocus = row.contains(document.activeElement);
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    this.#count();
    roving(this.list);
    if (hadFocus && next) this.#focus(next);
  }

  /** An answer is a version of the entry; so is taking it back. */
  async #undo(item) {
    try {
      await api.patch(path("memory", "record", item.id), {review: "candidate"},
                      {params: {session_id: item.session_id}});
      await this.page.load();
      this.#focus(this.#rowOf(item.id));
      this.page.app.announce("It is a candidate again.");
    } catch (error) {
      this.page.app.toast(error.message, {tone: "danger"});
    }
  }
}
