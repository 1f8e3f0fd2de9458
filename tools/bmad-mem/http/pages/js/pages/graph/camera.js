// camera.js - which part of a drawing is seen, and how large: moved by mouse, wheel, fingers, keys.

const kScaleMin = 0.1;
const kScaleMax = 6;
/** Around the drawing that fits. */
const kMarginPx = 28;
/** A press that moved less is a click. */
const kClickPx = 4;

/** Shows world coordinates in an element: screen = world × scale + offset. */
export class Camera {
  /**
   * @param {HTMLElement} view
   * @param {() => void} onChange after each move
   */
  constructor(view, onChange) {
    this.view = view;
    this.onChange = onChange;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.bounds = {left: 0, top: 0, width: 1, height: 1};
    /** Whether a person has dragged it; whether one has zoomed: then its scale is that person's. */
    this.isMoved = false;
    this.isZoomed = false;
    this.pointers = new Map();
    this.#listen();
  }

  /** The part of the view that nodes may take; names stand to the right of theirs. */
  #frame() {
    const {clientWidth: w, clientHeight: h} = this.view;
    return {width: w - 2 * kMarginPx - Math.min(90, w / 5), height: h - 2 * kMarginPx};
  }

  /** The scale that shows everything, and not larger than life. */
  #fitting() {
    const frame = this.#frame();
    return Math.min(1.4, frame.width / Math.max(this.bounds.width, 1), frame.height / Math.max(this.bounds.height, 1));
  }

  /** Shows all of `bounds` again, whatever a person did. */
  fit(bounds) {
    this.isMoved = this.isZoomed = false;
    this.follow(bounds);
  }

  /** The layout takes `bounds` now: shows all of it, until a person zooms. */
  follow(bounds) {
    this.bounds = bounds;
    if (!this.isZoomed) this.scale = this.#fitting();
    if (!this.isMoved && !this.isZoomed) {
      const {width, height} = this.#frame();
      this.x = kMarginPx + width / 2 - (bounds.left + bounds.width / 2) * this.scale;
      this.y = kMarginPx + height / 2 - (bounds.top + bounds.height / 2) * this.scale;
    }
    this.#changed();
  }

  /** The drawing stays in the frame where it has room, else it leaves no side of the frame empty. */
  #changed() {
    const {bounds, scale} = this;
    const frame = this.#frame();
    const held = (at, begin, size, room) => {
      const ends = [kMarginPx - begin * scale, kMarginPx + room - (begin + size) * scale];
      return Math.min(Math.max(at, Math.min(...ends)), Math.max(...ends));
    };
    this.x = held(this.x, bounds.left, bounds.width, frame.width);
    this.y = held(this.y, bounds.top, bounds.height, frame.height);
    this.onChange();
  }

  /** Makes everything `factor` times as large around a point of the screen, else the middle. */
  zoom(factor, x = this.view.clientWidth / 2, y = this.view.clientHeight / 2) {
    const scale = Math.min(kScaleMax, Math.max(Math.min(kScaleMin, this.#fitting()), this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.isZoomed = true;
    this.#changed();
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.isMoved = true;
    this.#changed();
  }

  /** Moves just so far that a point of the world is seen. */
  reveal(x, y) {
    const {clientWidth: w, clientHeight: h} = this.view;
    const [atX, atY] = this.onScreen(x, y);
    const margin = Math.min(60, w / 4, h / 4);
    const dx = Math.max(margin - atX, 0) + Math.min(w - margin - atX, 0);
    const dy = Math.max(margin - atY, 0) + Math.min(h - margin - atY, 0);
    if (dx || dy) this.pan(dx, dy);
  }

  /** Where a point of the world is on the screen. */
  onScreen(x, y) {
    return [x * this.scale + this.x, y * this.scale + this.y];
  }

  /** The point of the world under an event. */
  at(event) {
    const box = this.view.getBoundingClientRect();
    return [(event.clientX - box.left - this.x) / this.scale,
            (event.clientY - box.top - this.y) / this.scale];
  }

  #listen() {
    const {view} = this;
    view.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = view.getBoundingClientRect();
      const lines = event.deltaMode === 1 ? 16 : 1;
      this.zoom(Math.exp(-event.deltaY * lines * 0.0016), event.clientX - box.left,
                event.clientY - box.top);
    }, {passive: false});
    view.addEventListener("pointerdown", (event) => this.#press(event));
    view.addEventListener("pointermove", (event) => this.#drag(event));
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
      view.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
  }

  #press(event) {
    if (event.button === 0) {
      const place = {x: event.clientX, y: event.clientY, isDrag: false};
      this.pointers.set(event.pointerId, {...place, fromX: place.x, fromY: place.y});
    }
  }

  #drag(event) {
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer || event.defaultPrevented) return;
    const others = [...this.pointers.values()].filter((other) => other !== pointer);
    const dx = event.clientX - pointer.x;
    const dy = event.clientY - pointer.y;
    if (!pointer.isDrag) {
      const way = Math.hypot(event.clientX - pointer.fromX, event.clientY - pointer.fromY);
      if (way < kClickPx) return;
      pointer.isDrag = true;
      this.view.setPointerCapture(event.pointerId);
    }
    if (others.length === 0) {
      this.pan(dx, dy);
    } else {
      this.#pinch(pointer, others[0], event);
    }
    pointer.x = event.clientX;
    pointer.y = event.clientY;
  }

  #pinch(pointer, other, event) {
    const before = Math.hypot(pointer.x - other.x, pointer.y - other.y);
    const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
    const box = this.view.getBoundingClientRect();
    if (before > 0) {
      this.zoom(after / before, (event.clientX + other.x) / 2 - box.left,
                (event.clientY + other.y) / 2 - box.top);
    }
  }
}
