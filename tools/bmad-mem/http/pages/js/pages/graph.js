// graph.js - the page of sessions, decisions, findings and messages, and of what links them.
import {api} from "../api.js";
import {h, put} from "../dom.js";
import {News} from "../parts/news.js";
import {noteSessions} from "../parts/session_names.js";
import {button, count, empty, pageHead, problem, skeleton} from "../parts/parts.js";
import {firstSteps} from "../parts/first_steps.js";
import {card} from "./graph/card.js";
import {Drawing} from "./graph/drawing.js";
import {filters} from "./graph/filters.js";
import {visible} from "./graph/model.js";
import {table} from "./graph/table.js";

export const title = "Graph";

/** Below this the table says more than a drawing. */
const kNarrow = "(max-width: 640px)";

class GraphPage {
  constructor(main, {query, app, signal}) {
    this.app = app;
    this.signal = signal;
    this.view = query.get("view") ?? (matchMedia(kNarrow).matches ? "table" : "drawing");
    this.wanted = {
      session_id: query.getAll("session_id"),
      since: query.get("since") ?? "",
      limit: Number(query.get("limit")) || 300,
    };
    this.hiddenKinds = new Set(query.getAll("without"));
    this.hiddenRelations = new Set(query.getAll("without_link"));
    this.graph = null;
    this.round = 0;
    this.sessions = [];
    this.drawing = null;
    this.news = new News("draw again", () => this.load());
    this.#build(main);
  }

  #build(main) {
    this.switch = button("", () => this.#turn(), {"aria-keyshortcuts": "v"});
    this.#nameSwitch();
    this.filterPlace = h("div", {class: "graph-filters"});
    this.summary = h("p", {class: "muted small", role: "status"});
    this.stage = h("div", {class: "graph-stage"});
    main.append(
        pageHead("Graph", {
          lead: "Entries, linked by reference and shared topic.",
          actions: [this.news.button, this.switch],
        }),
        h("details", {class: "card graph-options"},
          h("summary", null, "Kinds and filters"), this.filterPlace),
        this.summary, this.stage);
    this.app.keys([{keys: "v", text: "Drawing or table", run: () => this.#turn()}]);
    this.app.onUpdate(() => this.news.add(), {onReset: () => this.news.add()});
  }

  async load() {
    const round = ++this.round;
    this.news.clear();
    // What is shown stays, until there is something newer to show.
    if (!this.graph) put(this.stage, skeleton(8));
    this.stage.setAttribute("aria-busy", "true");
    try {
      const {signal} = this;
      const [graph, list] = await Promise.all([
        api.get("/memory/graph", this.wanted, {signal}),
        api.get("/memory/sessions", {}, {signal}),
      ]);
      if (round !== this.round) return;  // Something else was chosen meanwhile.
      this.graph = graph;
      this.sessions = noteSessions(list.sessions);
      this.show();
    } catch (error) {
      if (this.signal.aborted || round !== this.round) return;
      this.drawing?.stop();
      put(this.stage, problem(error, () => this.load()));
    } finally {
      if (round === this.round) this.stage.removeAttribute("aria-busy");
    }
  }

  #turn() {
    this.view = this.view === "table" ? "drawing" : "table";
    this.#nameSwitch();
    if (this.graph) this.show();
    this.app.announce(this.view === "table" ? "Table" : "Drawing");
  }

  #nameSwitch() {
    this.switch.textContent = this.view === "table" ? "Show the drawing" : "Show as a table";
  }

  /** Shows what was loaded, as far as the filters let it. */
  show() {
    this.drawing?.stop();
    this.drawing = null;
    this.#keepUrl();
    this.#showFilters();
    const shown = visible(this.graph, this.hiddenKinds, this.hiddenRelations);
    this.summary.textContent = `${count(shown.nodes.length, "node")}, ` +
        `${count(shown.edges.length, "link")}` +
        (this.graph.truncated ? ". There is more: raise the limit or choose a session." : ".");
    if (shown.nodes.length === 0) {
      put(this.stage, this.#isNarrowed()
        ? empty("Nothing to draw.", "No entry passes these filters. Remove one, or choose an earlier time.")
        : firstSteps(this.app));
    } else if (this.view === "table") {
      put(this.stage, table(shown));
    } else {
      this.#draw(shown);
    }
  }

  #isNarrowed() {
    const {session_id: sessions, since} = this.wanted;
    return sessions.length > 0 || since !== "" || this.hiddenKinds.size > 0 || this.graph.nodes.length > 0;
  }

  /** Anew, since the counts change; what had the focus keeps it. */
  #showFilters() {
    const active = document.activeElement;
    const id = this.filterPlace.contains(active) ? active.id : "";
    put(this.filterPlace, filters(this));
    if (id) document.getElementById(id)?.focus();
  }

  #draw(shown) {
    const side = h("aside", {class: "card graph-card", "aria-label": "The chosen node"});
    const pick = (index) => put(side, index < 0
      ? h("p", {class: "muted small"}, "Point at a node, or reach the drawing with Tab and walk " +
          "with the arrows. Enter opens it.")
      : card(shown, index));
    this.drawing = new Drawing(shown, {
      onPick: pick,
      onOpen: (url) => this.app.navigate(url),
    });
    const {camera} = this.drawing;
    const tools = h("div", {class: "graph-tools", role: "group", "aria-label": "Zoom"},
                    button("+", () => camera.zoom(1.25), {"aria-label": "Larger"}),
                    button("−", () => camera.zoom(0.8), {"aria-label": "Smaller"}),
                    button("Fit", () => this.drawing.fit(), {"aria-label": "Fit everything"}));
    pick(-1);
    put(this.stage, h("div", {class: "graph-drawing"},
                      h("div", {class: "graph-frame"}, this.drawing.view, tools), side));
    this.drawing.start();
  }

  #keepUrl() {
    const search = new URLSearchParams();
    for (const id of this.wanted.session_id) search.append("session_id", id);
    if (this.wanted.since) search.set("since", this.wanted.since);
    if (this.wanted.limit !== 300) search.set("limit", this.wanted.limit);
    for (const kind of this.hiddenKinds) search.append("without", kind);
    for (const relation of this.hiddenRelations) search.append("without_link", relation);
    search.set("view", this.view);
    this.app.setUrl(`/graph?${search}`);
  }
}

/** Shows the page. */
export async function show(main, context) {
  const page = new GraphPage(main, context);
  await page.load();
  return () => page.drawing?.stop();
}
