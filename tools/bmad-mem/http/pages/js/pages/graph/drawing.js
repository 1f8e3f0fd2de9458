// drawing.js - the graph as a drawing: nodes are links that can be reached by Tab and arrows.
import {svg} from "../../dom.js";
import {Camera} from "./camera.js";
import {Layout, nearest} from "./layout.js";
import {addressOf, kRelations, kindOf, short, spoken} from "./model.js";

const kArrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
const kPanPx = 60;
const kLabelPx = 11;
const kFrameMs = 1000 / 60;
/**
 * More nodes than this are dots as long as they move. Chrome works out the style of each element
 * whose place changes: 2,000 nodes with labels took 100 ms a frame, as dots about 40.
 */
const kMovingMax = 400;
/** Entries are named from this scale on; sessions and topics always. */
const kLabelScale = 1.5;
/** Below this scale even their names would lie on one another. */
const kNamedScale = 0.5;

/** How much larger a node is drawn that weighs more. */
function growth({weight = 0}) {
  return Math.min(1.4, 1 + Math.log2(1 + weight) / 14);
}

/** Draws what visible() gave. */
export class Drawing {
  /**
   * @param {{nodes: Object[], edges: Object[], links: Object[][]}} graph
   * @param {{onPick: (index: number) => void, onOpen: (url: string) => void}} listener a node is
   *   pointed at or focused (-1: none), or opened
   */
  constructor(graph, listener) {
    this.graph = graph;
    this.listener = listener;
    this.picked = -1;
    this.wasPicked = false;
    this.current = 0;
    this.frame = 0;
    this.layout = new Layout(graph.nodes, graph.edges);
    this.#build();
    this.camera = new Camera(this.view, this.world, () => this.#scaled());
  }

  #build() {
    const {graph} = this;
    this.lines = new Map(Object.keys(kRelations).map(
        (relation) => [relation, svg("path", {class: `graph-edges graph-${relation}`})]));
    this.near = svg("path", {class: "graph-edges graph-near"});
    this.marks = graph.nodes.map((node, i) => this.#mark(node, i));
    this.labels = graph.nodes.map((node) => this.#label(node));
    // Above all nodes, or a label would vanish behind the next one.
    this.dots = new Map([...new Set(graph.nodes.map(({kind}) => kind))].map(
        (kind) => [kind, svg("path", {class: "graph-dots", dataset: {type: kind}})]));
    this.names = svg("g", {class: "graph-names", "aria-hidden": "true"}, this.labels);
    this.world = svg("g", null, [...this.lines.values()], this.near, [...this.dots.values()],
                     svg("g", {class: "graph-marks"}, this.marks), this.names);
    this.view = svg("svg", {
      class: "graph-view",
      role: "application",
      tabindex: -1,  // A press beside the nodes gives it the keys for zoom.
      "aria-label": `Graph of ${graph.nodes.length} nodes. Arrows move between nodes, Enter opens ` +
          "one, plus and minus zoom, 0 shows everything. The table has the same content.",
      onkeydown: (event) => this.#key(event),
      onpointerover: (event) => this.#hover(event),
      onpointerdown: (event) => {
        this.wasPicked = this.#indexOf(event.target) === this.picked;
      },
      ondragstart: (event) => event.preventDefault(),
      onclick: (event) => this.#click(event),
      onfocusin: (event) => this.#focused(event),
    }, this.world);
  }

  #mark(node, i) {
    const {shape, radius} = kindOf(node.kind);
    const grow = growth(node);
    return svg("a", {
      href: addressOf(node),
      class: "graph-node",
      tabindex: i === 0 ? 0 : -1,
      "aria-label": spoken(node, this.graph.links[i]),
      dataset: {node: i, type: node.kind},
      draggable: "false",
    },
    svg("circle", {class: "graph-halo", r: (radius * grow + 3).toFixed(1)}),
    svg("path", {class: "graph-shape", d: shape, transform: `scale(${grow.toFixed(2)})`}));
  }

  #label(node) {
    const isNamed = node.kind === "session" || node.kind === "topic";
    return svg("text", {
      class: isNamed ? "graph-label graph-named" : "graph-label",
      x: (kindOf(node.kind).radius * growth(node) + 1).toFixed(1),
      dy: "0.32em",
    }, short(node.label));
  }

  /** Begins to move. To be called when the drawing is in the page. */
  start() {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.finish();
    } else if (!this.frame) {
      this.view.classList.toggle("graph-moving", this.graph.nodes.length > kMovingMax);
      this.#tick();
    }
  }

  /** One frame. Where drawing takes longer than a frame, it moves further in each. */
  #tick(now = 0, before = now) {
    for (let steps = Math.max(1, Math.min(4, Math.round((now - before) / kFrameMs))); steps; steps--) {
      if (!this.layout.step()) {
        this.finish();
        return;
      }
    }
    if (this.graph.nodes.length > kMovingMax) this.#placeDots();
    else this.#placeMarks();
    this.#placeLines();
    if (!this.camera.isMoved) this.camera.fit(this.layout.bounds());
    this.frame = requestAnimationFrame((next) => this.#tick(next, now || next));
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  /** Everything comes to rest at once. */
  finish() {
    this.stop();
    this.layout.finish();
    this.view.classList.remove("graph-moving");
    this.#placeMarks();
    this.#placeLines();
    if (!this.camera.isMoved) this.camera.fit(this.layout.bounds());
  }

  /** Shows everything again. */
  fit() {
    this.camera.isMoved = false;
    this.camera.fit(this.layout.bounds());
  }

  #placeMarks() {
    const {x, y} = this.layout;
    this.marks.forEach((mark, i) => {
      const place = `translate(${x[i].toFixed(1)} ${y[i].toFixed(1)})`;
      mark.setAttribute("transform", place);
      this.labels[i].setAttribute("transform", place);
    });
  }

  #placeDots() {
    const {x, y} = this.layout;
    const places = new Map([...this.dots.keys()].map((kind) => [kind, []]));
    this.graph.nodes.forEach(({kind}, i) => {
      places.get(kind).push(`M${x[i].toFixed(0)} ${y[i].toFixed(0)}h0`);
    });
    for (const [kind, dots] of this.dots) dots.setAttribute("d", places.get(kind).join(""));
  }

  #placeLines() {
    for (const [relation, line] of this.lines) {
      line.setAttribute("d", this.#path(this.graph.edges.filter((edge) =>
        edge.relation === relation)));
    }
    this.#placeNear();
  }

  #path(edges) {
    const {x, y} = this.layout;
    return edges.map(({a, b}) => `M${x[a].toFixed(1)} ${y[a].toFixed(1)}` +
        `L${x[b].toFixed(1)} ${y[b].toFixed(1)}`).join("");
  }

  #placeNear() {
    const links = this.picked < 0 ? [] : this.graph.links[this.picked];
    this.near.setAttribute("d", this.#path(links.map(({node}) => ({a: this.picked, b: node}))));
  }

  /** Labels keep their size whatever the scale. */
  #scaled() {
    const {scale} = this.camera;
    // In steps: each change makes the browser look at all labels again.
    const step = Math.round(Math.log2(scale) * 4) / 4;
    if (step !== this.step) {
      this.step = step;
      this.names.style.setProperty("font-size", `${(kLabelPx / 2 ** step).toFixed(2)}px`);
    }
    this.view.classList.toggle("graph-close", scale >= kLabelScale);
    this.view.classList.toggle("graph-far", scale < kNamedScale);
  }

  /** Shows one node with its neighbours; -1: none. */
  pick(index) {
    if (index === this.picked) return;
    for (const mark of this.view.querySelectorAll(".is-near")) mark.classList.remove("is-near");
    this.picked = index;
    this.view.classList.toggle("graph-picking", index >= 0);
    if (index >= 0) {
      for (const node of [index, ...this.graph.links[index].map((link) => link.node)]) {
        this.marks[node].classList.add("is-near");
        this.labels[node].classList.add("is-near");
      }
    }
    this.#placeNear();
    this.listener.onPick(index);
  }

  #indexOf(target) {
    const mark = target.closest?.(".graph-node");
    return mark ? Number(mark.dataset.node) : -1;
  }

  #hover(event) {
    const index = event.pointerType === "touch" ? -1 : this.#indexOf(event.target);
    // Between nodes the last one stays, so that its card can be reached.
    if (index >= 0) this.pick(index);
  }

  #focused(event) {
    const index = this.#indexOf(event.target);
    if (index < 0) return;
    if (this.frame) this.finish();  // What has the focus stands still.
    this.marks[this.current].setAttribute("tabindex", "-1");
    this.marks[index].setAttribute("tabindex", "0");
    this.current = index;
    this.pick(index);
    if (event.target.matches(":focus-visible")) {
      this.camera.reveal(this.layout.x[index], this.layout.y[index]);
    }
  }

  /** A link of SVG is none for the shell, and the end of a drag is no click. */
  #click(event) {
    const index = this.#indexOf(event.target);
    if (index < 0) this.pick(-1);
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (index < 0 || !isPlain) return;
    event.preventDefault();
    // A finger can't point without pressing: its first tap shows the card, its second one opens.
    if (event.pointerType === "touch" && !this.wasPicked) return;
    this.listener.onOpen(addressOf(this.graph.nodes[index]));
  }

  /** Puts the focus on a node. */
  focus(index) {
    this.marks[index]?.focus();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = kArrows[event.key];
    if (arrow && event.shiftKey) {
      this.camera.pan(-arrow[0] * kPanPx, -arrow[1] * kPanPx);
    } else if (arrow) {
      const next = nearest(this.layout, this.current, ...arrow);
      if (next >= 0) this.focus(next);
    } else if (event.key === "Home" || event.key === "End") {
      this.focus(event.key === "Home" ? 0 : this.marks.length - 1);
    } else if (event.key === "+" || event.key === "=") {
      this.camera.zoom(1.25);
    } else if (event.key === "-") {
      this.camera.zoom(0.8);
    } else if (event.key === "0") {
      this.fit();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
