// knowledge.js - the page of what is known: facts and preferences by category, what was found and
// waits for a decision, and where statements contradict each other.
import {api} from "../api.js";
import {h, put} from "../dom.js";
import {button, count, empty, pageHead, problem, skeleton} from "../parts/parts.js";
import {roving} from "../parts/list.js";
import {openAdd} from "./knowledge/add.js";
import {Candidates} from "./knowledge/candidates.js";
import {contradictions} from "./knowledge/contradictions.js";
import {itemRow} from "./knowledge/items.js";
import {categoryName, identity, kCategories} from "./knowledge/model.js";

export const title = "Knowledge";

/** Items that are shown at first, and with each "Show more". */
const kPage = 100;
/** Candidates and contradictions that are reviewed at once. */
const kReviewMax = 200;
const kTypingMs = 150;
/** Several writes that come together make one reload. */
const kSettleMs = 400;

class KnowledgePage {
  constructor(main, {query, app, signal}) {
    this.app = app;
    this.signal = signal;
    this.items = [];
    this.total = 0;
    this.limit = kPage;
    this.agents = new Set();
    this.timer = 0;
    this.round = 0;
    this.filter = {
      text: query.get("text") ?? "",
      category: query.get("category") ?? "",
      agent: query.get("agent") ?? "",
      confidence: Number(query.get("confidence")) || 0,
      pinned: query.get("pinned") === "true",
    };
    this.candidates = new Candidates(this);
    this.#build(main);
    app.onUpdate(({type}) => type !== "event" && this.#later(), {onReset: () => this.#later()});
  }

  #build(main) {
    this.status = h("p", {class: "muted small", role: "status"});
    this.filterPlace = h("form", {class: "know-filters", role: "search",
                                  onsubmit: (event) => event.preventDefault()});
    this.conflicts = h("div");
    this.known = h("div", {class: "know-section"}, skeleton(8));
    this.candidates.section.hidden = true;
    main.append(
        pageHead("Knowledge", {
          lead: "The knowledge of all sessions.",
          actions: [button("Add", () => openAdd(this), {kind: "primary"})],
        }),
        this.candidates.section, this.conflicts, this.filterPlace, this.status, this.known);
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), kSettleMs);
  }

  /** Loads everything and shows it. */
  async load() {
    clearTimeout(this.timer);
    if (this.signal.aborted) return;
    const round = ++this.round;
    try {
      const {signal} = this;
      const ask = (params) => api.get("/memory/knowledge", params, {signal});
      const [known, candidates, contradicted] = await Promise.all([
        ask(this.#wanted()), ask({candidates: true, limit: kReviewMax}), ask({contradicted: true, limit: kReviewMax}),
      ]);
      if (round !== this.round) return;  // Somebody has asked again; that answer is newer.
      this.#take(known);
      this.candidates.show(candidates.items);
      this.#showConflicts(contradicted.items);
      this.#showFilters();
      this.show();
    } catch (error) {
      if (!this.signal.aborted && round === this.round) put(this.known, problem(error, () => this.load()));
    }
  }

  /** What the filters ask the server for. */
  #wanted() {
    const {text, category, agent, confidence, pinned} = this.filter;
    return {text, category, agent, min_confidence: confidence || null, pinned, limit: this.limit};
  }

  #take({items, total}) {
    this.items = items;
    this.total = total;
    for (const {agent_id: agent} of items) if (agent) this.agents.add(agent);
  }

  /** Asks for what passes the filters; an older answer is never shown above a newer question. */
  async find() {
    const round = ++this.round;
    this.known.setAttribute("aria-busy", "true");
    try {
      const answer = await api.get("/memory/knowledge", this.#wanted(), {signal: this.signal});
      if (round !== this.round) return;
      this.#take(answer);
      this.show();
    } catch (error) {
      if (!this.signal.aborted && round === this.round) put(this.known, problem(error, () => this.find()));
    } finally {
      if (round === this.round) this.known.removeAttribute("aria-busy");
    }
  }

  #showConflicts(items) {
    put(this.conflicts, contradictions(this, items));
    this.conflicts.hidden = this.conflicts.childElementCount === 0;
  }

  /** Built once, then only the choices that depend on what is known. */
  #showFilters() {
    const agents = [...new Set([...this.agents, this.filter.agent].filter(Boolean))].sort();
    const options = [["", "Anybody"], ...agents.map((agent) => [agent, agent])];
    if (!this.agentChoice) {
      this.agentChoice = choice("know-agent", options, this.filter.agent,
                                (value) => this.#set("agent", value));
      put(this.filterPlace, this.#fields());
    } else {
      const {value} = this.agentChoice;
      put(this.agentChoice, options.map(([name, text]) => h("option", {value: name}, text)));
      this.agentChoice.value = value;
    }
  }

  #fields() {
    const text = h("input", {type: "search", id: "know-text", value: this.filter.text,
                             placeholder: "Words in key, value or tags",
                             oninput: (event) => this.#set("text", event.target.value)});
    const confidence = h("input", {type: "range", id: "know-confidence", min: 0, max: 1, step: 0.05,
                                   value: this.filter.confidence});
    const shown = h("output", {for: "know-confidence"}, this.filter.confidence.toFixed(2));
    confidence.addEventListener("input", () => {
      shown.textContent = Number(confidence.value).toFixed(2);
      this.#set("confidence", Number(confidence.value));
    });
    const pinned = h("input", {type: "checkbox", id: "know-pinned", checked: this.filter.pinned,
                               onchange: (event) => this.#set("pinned", event.target.checked)});
    const categories = [["", "All"], ...Object.entries(kCategories)];
    return [
      field("know-text", "Find", text),
      field("know-category", "Category", choice("know-category", categories, this.filter.category,
                                                (value) => this.#set("category", value))),
      field("know-agent", "Who", this.agentChoice),
      field("know-confidence", h("span", null, "Confidence from ", shown), confidence),
      h("span", {class: "check"}, pinned, h("label", {for: "know-pinned"}, "Pinned")),
    ];
  }

  #set(name, value) {
    this.filter[name] = value;
    this.limit = kPage;
    this.#keepUrl();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.find(), kTypingMs);
  }

  async #more() {
    const before = this.items.length;
    this.limit = before + kPage;
    await this.find();
    this.known.querySelectorAll("[data-item]")[before]?.focus();
  }

  /** Shows the items that the server found. */
  show() {
    const shown = this.items;
    this.#keepUrl();
    this.status.textContent = shown.length < this.total
      ? `${count(this.total, "item")}; the first ${shown.length} are shown` : count(this.total, "item");
    const open = new Set([...this.known.querySelectorAll("details[open]")].map(
        (details) => details.closest("[data-name]")?.dataset.name));
    const focused = document.activeElement?.closest?.("[data-name]")?.dataset.name;
    put(this.known, shown.length ? this.#categories(shown) : this.#nothing(),
        shown.length < this.total
          ? h("div", {class: "more"}, button("Show more", () => this.#more())) : null);
    for (const row of this.known.querySelectorAll("[data-name]")) {
      if (open.has(row.dataset.name)) row.querySelector("details").open = true;
      if (focused === row.dataset.name) row.querySelector("[data-item]").focus();
    }
  }

  #categories(shown) {
    const names = [...new Set([...Object.keys(kCategories), ...shown.map((item) => item.category)])];
    const groups = names.map((name) => [name, shown.filter(({category}) => category === name)])
        .filter(([, items]) => items.length > 0);
    const lists = h("div", {class: "know-categories"}, groups.map(([name, items]) =>
      h("section", {"aria-labelledby": `know-${name}`},
        h("h2", {id: `know-${name}`}, categoryName(name), " ",
          h("span", {class: "muted small"}, items.length)),
        h("ul", {class: "rows"}, items.map((item) => {
          const row = itemRow(item);
          row.dataset.name = identity(item);
          return row;
        })))));
    roving(lists);
    return lists;
  }

  #nothing() {
    return Object.values(this.filter).some(Boolean)
      ? empty("No knowledge passes these filters.", "Remove a filter, or use fewer words.")
      : empty("No knowledge yet.", "Add something here, or run ",
              h("code", null, 'bmad-mem remember --category constraint "Store amounts as integer cents"'), ".");
  }

  #keepUrl() {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(this.filter)) if (value) search.set(name, value);
    const text = search.toString();
    this.app.setUrl(text ? `/knowledge?${text}` : "/knowledge");
  }
}

function choice(id, options, chosen, onChange) {
  const select = h("select", {id}, options.map(([value, text]) =>
    h("option", {value, selected: value === chosen}, text)));
  select.addEventListener("change", () => onChange(select.value));
  return select;
}

function field(id, label, input) {
  return h("div", {class: "field"}, h("label", {for: id}, label), input);
}

/** Shows the page. */
export async function show(main, context) {
  const page = new KnowledgePage(main, context);
  await page.load();
  return () => clearTimeout(page.timer);
}
