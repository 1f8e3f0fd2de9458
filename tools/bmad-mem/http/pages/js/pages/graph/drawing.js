// drawing.js - the graph as a drawing: a canvas, and one link that walks from node to node.
import {h} from "../../dom.js";
import {Camera} from "./camera.js";
import {Layout, nearest} from "./layout.js";
import {addressOf, spoken} from "./model.js";
import {Painter, radiusOf} from "./painter.js";

const kArrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
const kPanPx = 60;
const kFrameMs = 1000 / 60;
/** A pointer this far beside a node still means it. */
const kNearPx = 5;
/** A press that moved more was a drag. */
const kClickPx = 4;

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
    this.current = 0;
    this.frame = 0;
    this.repaint = 0;
    this.isMoving = false;
    this.layout = new Layout(graph.nodes, graph.edges);
    this.#build();
    this.painter = new Painter(this.canvas, graph);
    this.camera = new Camera(this.view, () => this.#paintSoon());
    this.resizing = new ResizeObserver(() => this.#resized());
    this.theming = new MutationObserver(() => this.#recolour());
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.recolour = () => this.#recolour();
  }

  #build() {
    const {graph} = this;
    this.canvas = h("canvas", {class: "graph-canvas", "aria-hidden": "true"});
    this.name = h("div", {class: "graph-name", hidden: true, "aria-hidden": "true"});
    // One link stands for all nodes: 2,000 elements would cost more than all the painting.
    this.cursor = h("a", {class: "graph-cursor", draggable: "false", onfocus: () => this.#focused()});
    this.view = h("div", {
      class: "graph-view",
      role: "application",
      tabindex: -1,  // A press beside the nodes gives it the keys for zoom.
      "aria-label": `Graph of ${graph.nodes.length} nodes. Arrows move between nodes, Enter opens ` +
          "one, plus and minus zoom, 0 shows everything. The table has the same content.",
      onkeydown: (event) => this.#key(event),
      onpointermove: (event) => this.#hover(event),
      onpointerdown: (event) => (this.pressed = {x: event.clientX, y: event.clientY, picked: this.picked}),
      onclick: (event) => this.#click(event),
    }, this.canvas, this.cursor, this.name);
    this.#pointCursor();
  }

  /** Begins to move. To be called when the drawing is in the page. */
  start() {
    this.painter.readColours();
    this.painter.resize();
    this.resizing.observe(this.view);
    this.theming.observe(document.documentElement, {attributeFilter: ["data-theme"]});
    this.dark.addEventListener("change", this.recolour);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.finish();
    } else if (!this.frame) {
      this.isMoving = true;
      this.#tick();
    }
  }

  /** One frame. Where drawing takes longer than a frame, it moves further in each. */
  #tick(now = 0, before = now) {
    for (let steps = Math.max(1, Math.min(2, Math.round((now - before) / kFrameMs))); steps; steps--) {
      if (!this.layout.step()) {
        this.finish();
        return;
      }
    }
    this.camera.follow(this.layout.bounds());
    this.#paint();
    this.frame = requestAnimationFrame((next) => this.#tick(next, now || next));
  }

  /** Ends it; to be called when the drawing leaves the page. */
  stop() {
    this.#rest();
    cancelAnimationFrame(this.repaint);
    this.resizing.disconnect();
    this.theming.disconnect();
    this.dark.removeEventListener("change", this.recolour);
  }

  #rest() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.isMoving = false;
  }

  /** Everything comes to rest at once. */
  finish() {
    this.#rest();
    this.layout.finish();
    this.camera.follow(this.layout.bounds());
  }

  /** Shows everything again. */
  fit() {
    this.camera.fit(this.layout.bounds());
  }

  #resized() {
    if (!this.painter.resize()) return;
    this.camera.follow(this.layout.bounds());
    this.#paint();
  }

  #recolour() {
    this.painter.readColours();
    this.#paintSoon();
  }

  #paintSoon() {
    if (this.frame) return;  // The next frame of the layout paints.
    this.repaint ||= requestAnimationFrame(() => this.#paint());
  }

  #paint() {
    cancelAnimationFrame(this.repaint);
    this.repaint = 0;
    if (!this.painter.theme) return;  // It isn't in the page yet.
    this.painter.paint(this.layout, this.camera, {picked: this.picked, isMoving: this.isMoving});
    this.#place(this.cursor, this.current);
    if (this.picked >= 0) this.#place(this.name, this.picked);
  }

  /** Moves an element to a node; the style sheet centres it there. */
  #place(element, index) {
    if (index >= this.graph.nodes.length) return;
    const [x, y] = this.camera.onScreen(this.layout.x[index], this.layout.y[index]);
    const radius = Math.max(4, radiusOf(this.graph.nodes[index]) * this.camera.scale);
    element.style.setProperty("--x", `${x.toFixed(1)}px`);
    element.style.setProperty("--y", `${y.toFixed(1)}px`);
    element.style.setProperty("--r", `${radius.toFixed(1)}px`);
  }

  #pointCursor() {
    const node = this.graph.nodes[this.current];
    if (!node) return;
    this.cursor.setAttribute("href", addressOf(node));
    this.cursor.setAttribute("aria-label", spoken(node, this.graph.links[this.current]));
  }

  /** Shows one node with its neighbours; -1: none. */
  pick(index) {
    if (index === this.picked) return;
    this.picked = index;
    this.name.hidden = index < 0;
    this.name.textContent = index < 0 ? "" : this.graph.nodes[index].label;
    this.#paintSoon();
    if (index >= 0) this.#place(this.name, index);
    this.listener.onPick(index);
  }

  /** The node at an event; -1: none. */
  indexAt(event) {
    const [x, y] = this.camera.at(event);
    const near = kNearPx / this.camera.scale;
    let [best, least] = [-1, Infinity];
    this.graph.nodes.forEach((_, i) => {
      const way = Math.hypot(this.layout.x[i] - x, this.layout.y[i] - y) - this.painter.radii[i] - near;
      if (way < Math.min(0, least)) [best, least] = [i, way];
    });
    return best;
  }

  #hover(event) {
    if (event.pointerType === "touch" || event.buttons) return;
    const index = this.indexAt(event);
    this.view.classList.toggle("graph-pointing", index >= 0);
    // Between nodes the last one stays, so that its card can be reached.
    if (index >= 0) this.pick(index);
  }

  #focused() {
    if (this.frame) this.finish();  // What has the focus stands still.
    this.pick(this.current);
    if (this.cursor.matches(":focus-visible")) {
      this.camera.reveal(this.layout.x[this.current], this.layout.y[this.current]);
    }
  }

  #click(event) {
    const isKey = event.target === this.cursor && event.detail === 0;
    const {pressed} = this;
    if (!isKey && Math.hypot(event.clientX - pressed?.x, event.clientY - pressed?.y) >= kClickPx) {
      event.preventDefault();
      return;  // The end of a drag is no click.
    }
    const index = isKey ? this.current : this.indexAt(event);
    if (index < 0) this.pick(-1);
    event.preventDefault();
    if (index < 0) return;
    // A finger can't point without pressing: its first tap shows the card, its second one opens.
    if (event.pointerType === "touch" && pressed.picked !== index) {
      this.pick(index);
      return;
    }
    const url = addressOf(this.graph.nodes[index]);
    if (event.ctrlKey || event.metaKey || event.shiftKey) window.open(url, "_blank", "noopener");
    else this.listener.onOpen(url);
  }

  /** Puts the focus on a node. */
  focus(index) {
    this.current = index;
    this.#pointCursor();
    this.#place(this.cursor, index);
    if (document.activeElement === this.cursor) this.#focused();
    else this.cursor.focus({preventScroll: true});
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
      this.focus(event.key === "Home" ? 0 : this.graph.nodes.length - 1);
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
