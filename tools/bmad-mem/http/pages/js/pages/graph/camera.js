// camera.js - which part of a drawing is seen, and how large: moved by mouse, wheel, fingers, keys.

const kScaleMin = 0.1;
const kScaleMax = 6;
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
    /** Whether a person has moved it: then it no longer follows the layout. */
    this.isMoved = false;
    this.pointers = new Map();
    this.#listen();
  }

  /** Shows all of `bounds`, and not larger than life. */
  fit({left, top, width, height}) {
    const {clientWidth: w, clientHeight: h} = this.view;
    const margin = 28;
    const labels = Math.min(90, w / 5);  // They stand to the right of their nodes.
    const fitting = Math.min((w - 2 * margin - labels) / Math.max(width, 1),
                             (h - 2 * margin) / Math.max(height, 1));
    this.scale = Math.min(1.4, Math.max(kScaleMin, fitting));
    this.x = (w - labels) / 2 - (left + width / 2) * this.scale;
    this.y = h / 2 - (top + height / 2) * this.scale;
    this.onChange();
  }

  /** Makes everything `factor` times as large around a point of the screen, else the middle. */
  zoom(factor, x = this.view.clientWidth / 2, y = this.view.clientHeight / 2) {
    const scale = Math.min(kScaleMax, Math.max(kScaleMin, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.isMoved = true;
    this.onChange();
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.isMoved = true;
    this.onChange();
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
