// labels.js - which names of a drawing are seen: the important ones first, and none on another.

/** Names that stand in one picture: more would be read by nobody. */
const kLabelsMax = 300;
/** Names are looked up by squares of this size, in pixels. */
const kSquarePx = 64;

/**
 * Chooses the names that have room.
 * @param {{left: number, top: number, width: number, height: number}[]} boxes in pixels of the
 *   screen, the most important first
 * @param {number} width of the screen
 * @param {number} height
 * @returns {number[]} places in `boxes`, in their order
 */
export function withRoom(boxes, width, height) {
  const squares = new Map();
  const chosen = [];
  for (let i = 0; i < boxes.length && chosen.length < kLabelsMax; i += 1) {
    const box = boxes[i];
    const isSeen = box.left >= 0 && box.top >= 0 && box.left + box.width <= width && box.top + box.height <= height;
    if (!isSeen) continue;
    const places = squaresOf(box);
    if (places.some((place) => squares.get(place)?.some((other) => touch(box, other)))) continue;
    for (const place of places) {
      if (!squares.has(place)) squares.set(place, []);
      squares.get(place).push(box);
    }
    chosen.push(i);
  }
  return chosen;
}

function squaresOf({left, top, width, height}) {
  const places = [];
  for (let x = Math.floor(left / kSquarePx); x <= (left + width) / kSquarePx; x += 1) {
    for (let y = Math.floor(top / kSquarePx); y <= (top + height) / kSquarePx; y += 1) {
      places.push(`${x},${y}`);
    }
  }
  return places;
}

function touch(a, b) {
  return a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;
}
