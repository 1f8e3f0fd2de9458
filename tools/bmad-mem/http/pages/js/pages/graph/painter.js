// painter.js - paints the graph on a canvas, with as much detail as its scale has room for.
import {h} from "../../dom.js";
import {withRoom} from "./labels.js";
import {kRelations, kindOf} from "./model.js";
import {short} from "../../parts/parts.js";

const kLabelPx = 11;
const kLinePx = 14;
const kLabelLetters = 28;
/** Entries are named from this scale on; sessions and topics always, where there is room. */
const kEntryNamesFrom = 0.9;
/** A node that is smaller than this many pixels is a dot: nobody sees its shape. */
const kShapeFromPx = 4;
/** More nodes than this are dots without names as long as they move. */
const kMovingMax = 400;
const kFaded = 0.25;

/** How much larger a node is drawn that weighs more. */
export function radiusOf({kind, weight = 0}) {
  return kindOf(kind).radius * Math.min(1.4, 1 + Math.log2(1 + weight) / 14);
}

/** Paints what visible() gave. */
export class Painter {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{nodes: Object[], edges: Object[], links: Object[][]}} graph
   */
  constructor(canvas, graph) {
    this.canvas = canvas;
    this.graph = graph;
    this.ink = canvas.getContext("2d");
    this.radii = graph.nodes.map(radiusOf);
    this.byKind = new Map();
    graph.nodes.forEach(({kind}, i) => {
      if (!this.byKind.has(kind)) this.byKind.set(kind, []);
      this.byKind.get(kind).push(i);
    });
    this.shapes = new Map([...this.byKind.keys()].map((kind) => [kind, new Path2D(kindOf(kind).shape)]));
    this.edges = Object.keys(kRelations).map((relation) =>
      [relation, graph.edges.filter((edge) => edge.relation === relation)]);
    // Names of what holds others together first, then of what weighs most.
    const rank = ({kind, weight = 0}) => (kind === "session" ? 2e6 : kind === "topic" ? 1e6 : 0) + weight;
    this.order = graph.nodes.map((_, i) => i).sort((a, b) => rank(graph.nodes[b]) - rank(graph.nodes[a]));
    this.widths = new Map();
    /** The names that were painted last: {index, left, top, width, height}. */
    this.named = [];
  }

  /** Reads the colours of the theme. To be called when the canvas is in the page. */
  readColours() {
    const probe = h("span", {class: "graph-probe"});
    this.canvas.after(probe);
    const read = (kind) => {
      probe.dataset.type = kind;
      const {color, backgroundColor} = getComputedStyle(probe);
      return {line: color, fill: backgroundColor};
    };
    this.colours = new Map([...this.byKind.keys()].map((kind) => [kind, read(kind)]));
    const of = (name) => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    this.theme = {text: of("--text"), surface: of("--surface"), line: of("--line-strong"), accent: of("--accent"),
      font: getComputedStyle(this.canvas).fontFamily};
    probe.remove();
  }

  /** Makes the canvas as large as its place; whether it changed. */
  resize() {
    const {clientWidth: width, clientHeight: height} = this.canvas;
    const ratio = Math.min(2, devicePixelRatio || 1);
    const [w, t] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width === w && this.canvas.height === t) return false;
    Object.assign(this, {width, height, ratio});
    Object.assign(this.canvas, {width: w, height: t});
    return true;
  }

  /**
   * Paints everything once.
   * @param {{x: Float64Array, y: Float64Array}} layout
   * @param {{scale: number, x: number, y: number}} camera
   * @param {{picked: number, isMoving: boolean}} state
   */
  paint(layout, camera, {picked, isMoving}) {
    const {ink, ratio} = this;
    this.near = picked < 0 ? null : new Set([picked, ...this.graph.links[picked].map(({node}) => node)]);
    ink.setTransform(1, 0, 0, 1, 0, 0);
    ink.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const zoom = camera.scale * ratio;
    const toWorld = () => ink.setTransform(zoom, 0, 0, zoom, camera.x * ratio, camera.y * ratio);
    toWorld();
    this.#lines(layout, camera.scale);
    if (picked >= 0) this.#nearLines(layout, camera.scale, picked);
    const isCoarse = isMoving && this.graph.nodes.length > kMovingMax;
    this.#nodes(layout, camera, isCoarse);
    this.named = [];
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!isCoarse) this.#names(layout, camera, picked);
    ink.globalAlpha = 1;
  }

  #lines({x, y}, scale) {
    const {ink, theme} = this;
    for (const [relation, edges] of this.edges) {
      const isReference = relation !== "same_topic" && relation !== "in_session";
      ink.strokeStyle = isReference ? theme.accent : theme.line;
      ink.globalAlpha = (isReference ? 0.7 : relation === "in_session" ? 0.22 : 0.45) * (this.near ? kFaded : 1);
      ink.lineWidth = (isReference ? 1.5 : 1) / scale;
      ink.beginPath();
      for (const {a, b} of edges) {
        ink.moveTo(x[a], y[a]);
        ink.lineTo(x[b], y[b]);
      }
      ink.stroke();
    }
  }

  #nearLines({x, y}, scale, picked) {
    const {ink} = this;
    ink.strokeStyle = this.theme.text;
    ink.globalAlpha = 0.9;
    ink.lineWidth = 1.75 / scale;
    ink.beginPath();
    for (const {node} of this.graph.links[picked]) {
      ink.moveTo(x[picked], y[picked]);
      ink.lineTo(x[node], y[node]);
    }
    ink.stroke();
  }

  #nodes({x, y}, camera, isCoarse) {
    const {ink, near, radii} = this;
    const [left, top] = [-camera.x / camera.scale, -camera.y / camera.scale];
    const [right, bottom] = [left + this.width / camera.scale, top + this.height / camera.scale];
    for (const [kind, members] of this.byKind) {
      const {line, fill} = this.colours.get(kind);
      const isDot = isCoarse || kindOf(kind).radius * camera.scale < kShapeFromPx;
      const shape = this.shapes.get(kind);
      ink.lineWidth = 1.5;
      ink.strokeStyle = line;
      for (const i of members) {
        const r = radii[i];
        if (x[i] + r < left || x[i] - r > right || y[i] + r < top || y[i] - r > bottom) continue;
        ink.globalAlpha = near && !near.has(i) ? kFaded : 1;
        if (isDot) {
          ink.fillStyle = line;
          const half = Math.max(r * 0.6, 1 / camera.scale);
          ink.fillRect(x[i] - half, y[i] - half, 2 * half, 2 * half);
        } else {
          ink.fillStyle = fill;
          this.#shape(shape, x[i], y[i], r / kindOf(kind).radius);
        }
      }
    }
  }

  #shape(shape, x, y, grow) {
    const {ink} = this;
    ink.translate(x, y);
    ink.scale(grow, grow);
    ink.fill(shape);
    ink.stroke(shape);
    ink.scale(1 / grow, 1 / grow);
    ink.translate(-x, -y);
  }

  /** Those of the picked node and its neighbours first: it is they that are looked at. */
  #names(layout, camera, picked) {
    const {ink, near, theme, graph} = this;
    ink.textBaseline = "middle";
    const isNamed = (i) => camera.scale >= kEntryNamesFrom || ["session", "topic"].includes(graph.nodes[i].kind);
    const first = picked < 0 ? [] : [picked, ...this.order.filter((i) => i !== picked && near.has(i))];
    const order = [...first, ...this.order.filter((i) => isNamed(i) && !near?.has(i))];
    const boxes = order.map((i) => this.#box(i, layout, camera));
    this.named = withRoom(boxes, this.width, this.height).map((at) => ({index: order[at], ...boxes[at]}));
    ink.lineWidth = 3;
    ink.lineJoin = "round";
    ink.strokeStyle = theme.surface;
    ink.fillStyle = theme.text;
    for (const {index, left, top, height} of this.named) {
      ink.font = this.#font(index);
      ink.globalAlpha = near && !near.has(index) ? kFaded : 1;
      const text = short(graph.nodes[index].label, kLabelLetters);
      ink.strokeText(text, left, top + height / 2);
      ink.fillText(text, left, top + height / 2);
    }
  }

  #font(i) {
    const isBold = ["session", "topic"].includes(this.graph.nodes[i].kind);
    return `${isBold ? "600 " : ""}${kLabelPx}px ${this.theme.font}`;
  }

  #box(i, {x, y}, camera) {
    if (!this.widths.has(i)) {
      this.ink.font = this.#font(i);
      this.widths.set(i, this.ink.measureText(short(this.graph.nodes[i].label, kLabelLetters)).width);
    }
    return {left: x[i] * camera.scale + camera.x + this.radii[i] * camera.scale + 3,
      top: y[i] * camera.scale + camera.y - kLinePx / 2, width: this.widths.get(i), height: kLinePx};
  }
}
