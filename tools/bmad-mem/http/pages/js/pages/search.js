// search.js - finds as one types, and says why.
//
// Answers may overtake each other: an older request is aborted when a newer one starts, so no older
// answer is ever shown above a newer question.
import {h, put} from "../dom.js";
import {address, api} from "../api.js";
import {button, count, empty, entryRow, pageHead, problem, skeleton} from "../parts/parts.js";
import {components, terms} from "../parts/why.js";
import {firstSteps} from "../parts/first_steps.js";
import {filterControls, searchFromQuery, showTypeCounts} from "../parts/filters.js";
import {focusedRow, moveInList, roving} from "../parts/list.js";
import {hitText} from "../parts/highlight.js";

/** Title of the window. */
export const title = "Search";

const kTypingMs = 120;
const kPage = 20;
/** Hits of one answer, and the last one that can be paged to. */
const kAnswerMost = 200;
const kMost = 10_000;
/** What the answer says of itself. */
const kCertainty = {none: ". None of them answers this", maybe: ". They may not answer this"};

/** To count is to find all: not while somebody types. */
const kCountMs = 250;
const kExamples = ["why did we", "\"the exact phrase\"", "conn* -draft", "type:decision since:30d", "is:pinned"];

/** Shows the page. */
export async function show(main, {query, app, signal}) {
  const page = new SearchPage(app, signal, searchFromQuery(query));
  put(main, page.view());
  signal.addEventListener("abort", () => page.stop());
  app.keys([
    {keys: "p", text: "Pin or unpin the entry", run: () => page.pinFocused()},
    {keys: "w", text: "Why this hit", run: () => toggleWhy()},
    {keys: "f", text: "Filters", run: () => page.toggleFilters()},
  ]);
  app.onUpdate((update) => page.noteNew(update), {onReset: () => page.run()});
  await page.run();
}

function toggleWhy() {
  const details = focusedRow()?.querySelector("details");
  if (details) {
    details.open = !details.open;
  }
}

/** The question, and below it a sign at `column` (bytes, from 1). */
function pointAt(text, column) {
  const before = new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, column - 1));
  return `${text}\n${" ".repeat([...before].length)}^`;
}

class SearchPage {
  constructor(app, signal, search) {
    this.app = app;
    this.signal = signal;
    this.search = search;
    this.limit = kPage;
    this.counts = null;
    this.certainty = "";
    this.counting = 0;
    this.timer = 0;
    this.request = null;
    this.hits = [];
    this.fresh = 0;
  }

  view() {
    const {types, form, chips} = filterControls(this.search, () => this.changed(0), this.signal);
    this.field = h("input", {type: "search", id: "q", placeholder: "Search for words, types or tags", autocomplete: "off",
      spellcheck: "false", value: this.search.q, "aria-describedby": "q-error",
      oninput: () => this.changed(kTypingMs), onkeydown: (event) => this.fieldKey(event)});
    this.error = h("div", {id: "q-error"});
    this.status = h("p", {class: "muted small", role: "status"});
    this.pill = h("div", {class: "pill-place"});
    this.results = h("div", {class: "results"}, skeleton(8));
    this.filters = h("details", {class: "filters"}, h("summary", {}, "More filters"), form);
    this.types = types;
    return [
      h("div", {class: "hidden"}, pageHead("Search")),
      h("form", {class: "search", role: "search", onsubmit: (event) => this.submit(event)},
        h("label", {class: "hidden", for: "q"}, "Search the memory"),
        h("div", {class: "search-field"}, this.field, h("kbd", {"aria-hidden": "true"}, "/")),
        this.error, types, this.filters, chips),
      h("section", {class: "found", "aria-label": "Results"},
        h("div", {class: "found-head"}, this.status, this.sortField()), this.pill, this.results),
    ];
  }

  sortField() {
    const select = h("select", {id: "sort", onchange: (event) => {
      this.search.sort = event.target.value;
      this.changed(0);
    }}, [["", "Best first"], ["newest", "Newest first"], ["oldest", "Oldest first"]].map(([value, text]) =>
      h("option", {value, selected: value === this.search.sort}, text)));
    return h("div", {class: "sort"}, h("label", {for: "sort", class: "hidden"}, "Order"), select);
  }

  submit(event) {
    event.preventDefault();
    this.changed(0);
  }

  fieldKey(event) {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      moveInList(0);
    }
  }

  toggleFilters() {
    this.filters.open = !this.filters.open;
    if (this.filters.open) {
      this.filters.querySelector("select, input").focus();
    }
  }

  /** The question changed; asks after `wait` ms. */
  changed(wait) {
    this.search.q = this.field.value;
    this.limit = kPage;
    this.app.setUrl(address("/", this.search));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.run(), wait);
  }

  stop() {
    clearTimeout(this.timer);
    clearTimeout(this.counting);
    this.request?.abort();
  }

  params() {
    return {...this.search, k: this.limit};
  }

  async run() {
    this.request?.abort();
    const request = (this.request = new AbortController());
    this.results.setAttribute("aria-busy", "true");
    try {
      const answer = await api.get("/memory/search", this.params(), {signal: request.signal});
      if (request === this.request) {
        this.took = answer.took_ms;
        this.counts = null;
        this.certainty = kCertainty[answer.certainty] ?? "";
        this.showHits(answer.hits, answer.hits.length >= this.limit);
        clearTimeout(this.counting);
        this.counting = setTimeout(() => this.count(request), kCountMs);
      }
    } catch (error) {
      if (request === this.request && error.name !== "AbortError") {
        this.showError(error);
      }
    } finally {
      if (request === this.request) {
        this.results.removeAttribute("aria-busy");
      }
    }
  }

  /** Says how many hits there are, in all and by type. A type that is chosen doesn't hide the others. */
  async count(request) {
    const ask = (more) => api.get("/memory/search", {...this.search, ...more, k: 1, counts: true}, {signal: request.signal});
    const [all, chosen] = await Promise.all([ask({type: []}), this.search.type.length ? ask({}) : null]).catch(() => []);
    if (all && request === this.request) {
      this.counts = (chosen ?? all).counts;
      showTypeCounts(this.types, all.counts.types);
      this.showStatus();
    }
  }

  showStatus() {
    const what = (n) => (this.search.q.trim() ? count(n, "hit") : count(n, "entry", "entries"));
    const time = `in ${Number(this.took ?? 0).toFixed(1)} ms`;
    const shown = this.hits.length;
    if (!this.counts) {
      put(this.status, `${what(shown)}${this.isMore ? ", and more" : ""}, ${time}${this.certainty}`);
      return;
    }
    const {total, is_least: isLeast} = this.counts;
    put(this.status, `${isLeast ? "More than " : ""}${what(Math.max(total, shown))}, ${time}`,
      shown < total ? `; the first ${shown.toLocaleString("en")} are shown` : "", this.certainty);
  }

  showHits(hits, isMore) {
    this.hits = hits;
    this.fresh = 0;
    put(this.pill);
    put(this.error);
    this.field.removeAttribute("aria-invalid");
    const more = isMore && hits.length < kMost;
    this.isMore = more;
    this.showStatus();
    if (hits.length === 0) {
      put(this.results, this.nothing());
      return;
    }
    const focused = this.results.contains(document.activeElement) ? focusedRow()?.dataset : null;
    const list = h("ul", {class: "rows"}, hits.map((hit) => this.row(hit)));
    put(this.results, list, more ? h("div", {class: "more"}, button("Show more", () => this.more())) : null);
    roving(list);
    [...list.children].find(({dataset}) => dataset.id === focused?.id && dataset.session === focused?.session)
      ?.querySelector("[data-item]").focus({preventScroll: true});
  }

  async more() {
    const {request} = this;
    const shown = this.hits.length;
    const size = Math.min(kAnswerMost, shown, kMost - shown);
    try {
      const {hits} = await api.get("/memory/search", {...this.search, k: size, offset: shown}, {signal: request.signal});
      if (request !== this.request) {
        return;
      }
      // What was written meanwhile may have moved a hit to the next page.
      const known = new Set(this.hits.map((one) => `${one.session_id}/${one.id}`));
      const fresh = hits.filter((one) => !known.has(`${one.session_id}/${one.id}`));
      this.showHits([...this.hits, ...fresh], hits.length >= size);
      this.limit = Math.min(kAnswerMost, this.hits.length);
      this.results.querySelectorAll("[data-item]")[shown]?.focus();
    } catch (error) {
      if (error.name !== "AbortError") {
        this.app.toast(error.message, {tone: "danger"});
      }
    }
  }

  row(hit) {
    return entryRow(hit, {
      body: hitText(hit),
      extra: this.search.q.trim() ? this.why(hit) : null,
    });
  }

  /** The words are asked for when somebody looks: to explain costs more than to find. */
  why(hit) {
    const words = h("div", {});
    const details = h("details", {class: "row-why"},
      h("summary", {}, "Why this hit", h("span", {class: "row-score"}, Number(hit.score).toFixed(2))),
      components(hit), words);
    details.addEventListener("toggle", () => {
      if (details.open && words.childElementCount === 0) {
        this.explain(hit, words);
      }
    });
    return details;
  }

  async explain(hit, place) {
    put(place, skeleton(2));
    try {
      const {hits} = await api.get("/memory/search",
        {...this.search, k: kPage, offset: Math.max(0, this.hits.indexOf(hit) - 1), explain: true}, {signal: this.signal});
      const same = hits.find((one) => one.id === hit.id && one.session_id === hit.session_id);
      put(place, same?.explanation ? terms(same.explanation)
        : h("p", {class: "muted small"}, "It is no longer among the results; search again."));
    } catch (error) {
      if (error.name !== "AbortError") {
        put(place, problem(error, () => this.explain(hit, place)));
      }
    }
  }

  nothing() {
    const ask = (text) => {
      this.field.value = text;
      this.field.focus();
      this.changed(0);
    };
    const hasFilter = Object.entries(this.search).some(([name, value]) => name !== "q" && String(value) !== "" && value !== false);
    if (!hasFilter && !this.search.q.trim()) {
      return firstSteps(this.app);
    }
    return empty(hasFilter ? "No entry passes these filters." : "No results.",
      hasFilter ? h("p", {}, "Remove a filter above.") : null,
      h("p", {}, "Words are alternatives; more exact questions look like these:"),
      h("div", {class: "examples"}, kExamples.map((text) => button(text, () => ask(text), {kind: "mono"}))));
  }

  showError(error) {
    if (error.status !== 400) {
      put(this.status);
      put(this.results, problem(error, () => this.run()));
      return;
    }
    // A question that is still being written; the last hits stay.
    this.field.setAttribute("aria-invalid", "true");
    put(this.error, h("div", {class: "query-error"},
      error.column > 0 ? h("pre", {"aria-hidden": "true"}, pointAt(this.search.q, error.column)) : null,
      h("p", {class: "field-error", role: "alert"}, error.message)));
  }

  /** New entries don't move what somebody reads: they are offered. */
  noteNew({id}) {
    if (this.hits.some((hit) => hit.id === id)) {
      return;  // A new version of what is shown, such as a pin of one's own.
    }
    this.fresh += 1;
    put(this.pill, h("button", {type: "button", class: "pill", onclick: () => this.run()},
      `${count(this.fresh, "new entry", "new entries")}, search again`));
  }

  async pinFocused() {
    const row = focusedRow();
    const hit = this.hits.find((one) => one.id === row?.dataset.id && one.session_id === row.dataset.session);
    if (!hit) {
      return;
    }
    try {
      await api.post("/memory/pin", {id: hit.id, session_id: hit.session_id, pinned: !hit.pinned});
      hit.pinned = !hit.pinned;
      const fresh = this.row(hit);
      row.replaceWith(fresh);
      roving(fresh.closest("[data-roving]"));
      fresh.querySelector("[data-item]").focus();
      this.app.announce(hit.pinned ? "Pinned" : "Unpinned");
    } catch (error) {
      this.app.toast(error.message, {tone: "danger"});
    }
  }
}
