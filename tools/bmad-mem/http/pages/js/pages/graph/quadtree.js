// quadtree.js - how strongly many points push one another away, without comparing every pair.
//
// A square is cut into four as long as more than one point lies in it. Seen from far away, all
// points of a square push like one at their middle (Barnes and Hut, 1986): n log n instead of n².

/** A square counts as far away when it is smaller than its distance times this number. */
const kNear = 1;
/** Points closer than this push no harder: their order, not their force, pulls them apart. */
const kDistanceMin = 4;
/** Cutting on below this size would separate only points that lie on one another. */
const kSizeMin = 0.5;

/** The squares over points, built anew for each step of a layout. */
export class Quadtree {
  /** @param {number} capacity of points */
  constructor(capacity) {
    const cells = Math.max(64, capacity * 12);
    /** The first of a square's four quarters, which stand side by side; -1 when it is whole. */
    this.first = new Int32Array(cells);
    this.count = new Int32Array(cells);
    this.x = new Float64Array(cells);
    this.y = new Float64Array(cells);
    this.size = new Float64Array(cells);
    /** The one point of a square; -1 when there are none or several. */
    this.point = new Int32Array(cells);
    this.stack = new Int32Array(512);
    this.used = 0;
  }

  /** Makes the squares over points (xs[i], ys[i]). */
  build(xs, ys) {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < xs.length; i++) {
      left = Math.min(left, xs[i]);
      right = Math.max(right, xs[i]);
      top = Math.min(top, ys[i]);
      bottom = Math.max(bottom, ys[i]);
    }
    const size = Math.max(right - left, bottom - top, 1);
    this.used = 0;
    this.open(size);
    for (let i = 0; i < xs.length; i++) this.insert(i, xs, ys, left + size / 2, top + size / 2);
  }

  /** Takes one more square into use. */
  open(size) {
    const cell = this.used++;
    this.first[cell] = -1;
    this.count[cell] = 0;
    this.x[cell] = 0;
    this.y[cell] = 0;
    this.size[cell] = size;
    this.point[cell] = -1;
  }

  /** Adds a point to a square's middle. */
  weigh(cell, x, y) {
    const n = ++this.count[cell];
    this.x[cell] += (x - this.x[cell]) / n;
    this.y[cell] += (y - this.y[cell]) / n;
  }

  insert(i, xs, ys, middleX, middleY) {
    let cell = 0;
    for (;;) {
      const half = this.size[cell] / 2;
      if (this.first[cell] < 0) {
        const isWhole = half < kSizeMin || this.used + 4 > this.first.length;
        if (this.count[cell] === 0 || isWhole) {
          this.point[cell] = this.count[cell] === 0 ? i : -1;
          this.weigh(cell, xs[i], ys[i]);
          return;
        }
        this.cut(cell, middleX, middleY, xs, ys);
      }
      this.weigh(cell, xs[i], ys[i]);
      const quarter = (xs[i] >= middleX ? 1 : 0) + (ys[i] >= middleY ? 2 : 0);
      cell = this.first[cell] + quarter;
      middleX += quarter & 1 ? half / 2 : -half / 2;
      middleY += quarter & 2 ? half / 2 : -half / 2;
    }
  }

  /** Cuts a square into four and moves its point down into one of them. */
  cut(cell, middleX, middleY, xs, ys) {
    this.first[cell] = this.used;
    for (let quarter = 0; quarter < 4; quarter++) this.open(this.size[cell] / 2);
    const i = this.point[cell];
    this.point[cell] = -1;
    const below = this.first[cell] + (xs[i] >= middleX ? 1 : 0) + (ys[i] >= middleY ? 2 : 0);
    this.point[below] = i;
    this.weigh(below, xs[i], ys[i]);
  }

  /** Adds to vx[i], vy[i] what all other points push point `i` with. */
  push(i, xs, ys, vx, vy, strength) {
    const { stack, first, count, size, point } = this;
    const x = xs[i];
    const y = ys[i];
    let [pushX, pushY] = [0, 0];
    let depth = 1;
    stack[0] = 0;
    while (depth > 0) {
      const cell = stack[--depth];
      if (count[cell] === 0 || point[cell] === i) continue;
      const dx = this.x[cell] - x;
      const dy = this.y[cell] - y;
      const square = dx * dx + dy * dy;
      const begin = first[cell];
      if (begin >= 0 && size[cell] * size[cell] >= kNear * kNear * square) {
        for (let quarter = 0; quarter < 4; quarter++) stack[depth++] = begin + quarter;
        continue;
      }
      const force = (strength * count[cell]) / Math.max(square, kDistanceMin * kDistanceMin);
      pushX -= dx * force;
      pushY -= dy * force;
    }
    vx[i] += pushX;
    vy[i] += pushY;
  }
}
