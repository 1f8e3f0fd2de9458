// layout.js - where the nodes of a graph lie: all push one another away, edges pull, and the middle
// holds everything together. The same graph always lies the same way.
import {Quadtree} from "./quadtree.js";

/** The wanted length of an edge, by relation. */
const kLengths = {in_session: 46, same_topic: 70, references: 40, solves: 40, causes: 40, supersedes: 40,
  refines: 40};
const kPush = 34;
const kGravity = 0.035;
/** Part of the speed that is left after a step. */
const kGlide = 0.6;
/** A layout starts at heat 1 and is calm below this. */
const kCalm = 0.004;
/** So that it is calm after about 240 steps. */
const kCooling = 1 - kCalm ** (1 / 240);
/** The angle between one seed of a sunflower and the next: no two lie behind one another. */
const kGoldenAngle = Math.PI * (3 - Math.sqrt(5));

/** The place of seed `i` of a sunflower whose seeds lie `gap` apart. */
function seed(i, gap) {
  const radius = gap * Math.sqrt(i + 0.5);
  return [radius * Math.cos(i * kGoldenAngle), radius * Math.sin(i * kGoldenAngle)];
}

/**
 * Places nodes that are linked.
 * Threads of a page have one clock: call step() once for each frame until it says false.
 */
export class Layout {
  /**
   * @param {{id: string, session_id?: string}[]} nodes
   * @param {{a: number, b: number, relation: string}[]} edges by the places of their ends in `nodes`
   */
  constructor(nodes, edges) {
    const size = nodes.length;
    this.x = new Float64Array(size);
    this.y = new Float64Array(size);
    this.vx = new Float64Array(size);
    this.vy = new Float64Array(size);
    this.heat = 1;
    this.edges = edges;
    this.degree = new Uint32Array(size);
    for (const {a, b} of edges) {
      this.degree[a]++;
      this.degree[b]++;
    }
    this.tree = new Quadtree(size);
    this.#place(nodes);
  }

  /** Starts with each session's nodes around it, and the sessions around the middle. */
  #place(nodes) {
    const groups = new Map();
    nodes.forEach((node, i) => {
      const key = node.session_id ?? "";
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(i);
    });
    const width = 22 * Math.sqrt(nodes.length / Math.max(1, groups.size)) + 60;
    [...groups.keys()].sort().forEach((key, place) => {
      const [middleX, middleY] = groups.size === 1 ? [0, 0] : seed(place, width * 1.4);
      groups.get(key).forEach((i, at) => {
        const [dx, dy] = seed(at, 18);
        this.x[i] = middleX + dx;
        this.y[i] = middleY + dy;
      });
    });
  }

  /** @returns {boolean} whether there is more to do. */
  step() {
    if (this.heat < kCalm) return false;
    this.#pull();
    this.#push();
    this.#move();
    this.heat -= this.heat * kCooling;
    return this.heat >= kCalm;
  }

  /** Moves until calm, at most `milliseconds`. */
  finish(milliseconds = 1500) {
    const end = performance.now() + milliseconds;
    while (this.step() && performance.now() < end);
    this.heat = 0;
  }

  #pull() {
    const {x, y, vx, vy, degree} = this;
    for (const {a, b, relation} of this.edges) {
      const dx = x[b] + vx[b] - x[a] - vx[a] || 1e-3;
      const dy = y[b] + vy[b] - y[a] - vy[a] || 1e-3;
      const distance = Math.hypot(dx, dy);
      // What hangs on many edges is pulled by each of them a little only, or it would tremble.
      const weight = this.heat / Math.min(degree[a], degree[b]);
      const force = ((distance - (kLengths[relation] ?? 50)) / distance) * weight;
      const share = degree[a] / (degree[a] + degree[b]);
      vx[b] -= dx * force * share;
      vy[b] -= dy * force * share;
      vx[a] += dx * force * (1 - share);
      vy[a] += dy * force * (1 - share);
    }
  }

  #push() {
    const {x, y, vx, vy} = this;
    this.tree.build(x, y);
    const strength = kPush * this.heat;
    for (let i = 0; i < x.length; i++) {
      this.tree.push(i, x, y, vx, vy, strength);
      vx[i] -= x[i] * kGravity * this.heat;
      vy[i] -= y[i] * kGravity * this.heat;
    }
  }

  #move() {
    const {x, y, vx, vy} = this;
    for (let i = 0; i < x.length; i++) {
      vx[i] *= kGlide;
      vy[i] *= kGlide;
      x[i] += vx[i];
      y[i] += vy[i];
    }
  }

  /** @returns {{left: number, top: number, width: number, height: number}} around all nodes. */
  bounds() {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < this.x.length; i++) {
      left = Math.min(left, this.x[i]);
      right = Math.max(right, this.x[i]);
      top = Math.min(top, this.y[i]);
      bottom = Math.max(bottom, this.y[i]);
    }
    if (left > right) return {left: 0, top: 0, width: 1, height: 1};
    return {left, top, width: right - left, height: bottom - top};
  }
}

/**
 * The node nearest to node `from` in a direction; -1 when none lies there.
 * @param {Layout} layout
 * @param {number} from
 * @param {number} dx -1, 0 or 1
 * @param {number} dy -1, 0 or 1
 */
export function nearest(layout, from, dx, dy) {
  let best = -1;
  let bestCost = Infinity;
  for (let i = 0; i < layout.x.length; i++) {
    const x = layout.x[i] - layout.x[from];
    const y = layout.y[i] - layout.y[from];
    const along = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (i === from || along <= 0 || aside > along * 1.5) continue;
    const cost = along + aside * 1.5;
    if (cost < bestCost) [best, bestCost] = [i, cost];
  }
  return best;
}
