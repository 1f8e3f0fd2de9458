// What of a graph is seen, and where it lies.
import assert from "node:assert/strict";
import {test} from "node:test";
import {load} from "./fake_dom.mjs";

const {Layout, nearest, Quadtree, visible, addressOf, spoken, short, kindOf, withRoom, Camera} = await load(
  "pages/graph/labels.js", "pages/graph/layout.js", "pages/graph/quadtree.js", "pages/graph/model.js", "pages/graph/camera.js",
  "parts/parts.js");

/** Sessions with entries around them, each of which refers to the one before. */
function graph(sessions, entries) {
  const nodes = [];
  const edges = [];
  for (let s = 0; s < sessions; s += 1) {
    nodes.push({id: `s:${s}`, kind: "session", label: `session ${s}`, session_id: `${s}`});
    for (let e = 0; e < entries; e += 1) {
      const id = `e:${s}/${e}`;
      nodes.push({id, kind: "finding", label: `finding ${e}`, session_id: `${s}`,
        timestamp: `2026-10-${10 + s}T00:${String(e).padStart(2, "0")}:00Z`});
      edges.push({from: id, to: `s:${s}`, relation: "in_session"});
      if (e > 0) {
        edges.push({from: id, to: `e:${s}/${e - 1}`, relation: "references"});
      }
    }
  }
  return {nodes, edges};
}

function laidOut(shown) {
  const layout = new Layout(shown.nodes, shown.edges);
  layout.finish(20000);
  return layout;
}

test("the same graph lies the same way, and no node lies on another", () => {
  const shown = visible(graph(6, 20), new Set(), new Set());
  const [one, other] = [laidOut(shown), laidOut(shown)];
  assert.deepEqual([...one.x], [...other.x]);
  assert.deepEqual([...one.y], [...other.y]);
  for (let i = 0; i < one.x.length; i += 1) {
    assert.ok(Number.isFinite(one.x[i]) && Number.isFinite(one.y[i]));
    for (let k = 0; k < i; k += 1) {
      assert.ok(Math.hypot(one.x[i] - one.x[k], one.y[i] - one.y[k]) > 3, `${i} lies on ${k}`);
    }
  }
});

test("a layout comes to rest", () => {
  const {nodes, edges} = visible(graph(2, 5), new Set(), new Set());
  const layout = new Layout(nodes, edges);
  let steps = 1;
  while (layout.step()) {
    steps += 1;
  }
  assert.ok(steps < 400);
  const before = [...layout.x];
  assert.equal(layout.step(), false);
  assert.deepEqual([...layout.x], before);
});

test("graphs of no node and of one have a place", () => {
  assert.deepEqual(laidOut({nodes: [], edges: []}).bounds(), {left: 0, top: 0, width: 1, height: 1});
  const {left, width} = laidOut({nodes: [{id: "s:1"}], edges: []}).bounds();
  assert.ok(Number.isFinite(left) && width === 0);
});

test("pushing by quarters comes near to pushing pair by pair", () => {
  const size = 300;
  const x = Float64Array.from({length: size}, (_, i) => ((i * 7919) % 997) - 500);
  const y = Float64Array.from({length: size}, (_, i) => ((i * 104729) % 991) - 500);
  const [vx, vy] = [new Float64Array(size), new Float64Array(size)];
  const tree = new Quadtree(size);
  tree.build(x, y);
  let [error, all] = [0, 0];
  for (let i = 0; i < size; i += 1) {
    tree.push(i, x, y, vx, vy, 1);
    let [exactX, exactY] = [0, 0];
    for (let k = 0; k < size; k += 1) {
      const square = Math.max((x[k] - x[i]) ** 2 + (y[k] - y[i]) ** 2, 16);
      exactX -= k === i ? 0 : (x[k] - x[i]) / square;
      exactY -= k === i ? 0 : (y[k] - y[i]) / square;
    }
    error += Math.hypot(vx[i] - exactX, vy[i] - exactY);
    all += Math.hypot(exactX, exactY);
  }
  assert.ok(error / all < 0.1, `off by ${error / all}`);
});

test("points in one place are no endless work", () => {
  const [x, y] = [new Float64Array(500), new Float64Array(500)];
  const tree = new Quadtree(500);
  tree.build(x, y);
  tree.push(0, x, y, new Float64Array(500), new Float64Array(500), 1);
});

test("arrows lead to the nearest node in their direction", () => {
  const layout = {x: [0, 10, 30, 0, -5], y: [0, 1, 0, -20, 40]};
  assert.equal(nearest(layout, 0, 1, 0), 1);
  assert.equal(nearest(layout, 1, 1, 0), 2);
  assert.equal(nearest(layout, 0, 0, -1), 3);
  assert.equal(nearest(layout, 0, 0, 1), 4);
  assert.equal(nearest(layout, 0, -1, 0), -1);
});

test("what is hidden takes its links with it", () => {
  const whole = graph(1, 3);
  whole.edges.push({from: "e:0/0", to: "e:0/gone", relation: "references"});
  const count = (kinds, relations) => {
    const {nodes, edges, links} = visible(whole, new Set(kinds), new Set(relations));
    assert.equal(links.flat().length, 2 * edges.length);
    return [nodes.length, edges.length];
  };
  assert.deepEqual(count([], []), [4, 5]);
  assert.deepEqual(count(["session"], []), [3, 2]);
  assert.deepEqual(count([], ["references"]), [4, 3]);
  assert.deepEqual(count(["session", "finding"], []), [0, 0]);
});

test("sessions come in the order of time, each before its entries; topics come last", () => {
  const nodes = [
    {id: "t:seats", kind: "topic", label: "seats"},
    {id: "e:b/2", kind: "fact", label: "", session_id: "b", timestamp: "2026-10-01T00:00:00Z"},
    {id: "s:a", kind: "session", label: "a", session_id: "a"},
    {id: "e:a/9", kind: "fact", label: "", session_id: "a", timestamp: "2026-10-09T00:00:00Z"},
    {id: "e:a/1", kind: "fact", label: "", session_id: "a", timestamp: "2026-10-05T00:00:00Z"},
    {id: "s:b", kind: "session", label: "b", session_id: "b"},
  ];
  assert.deepEqual(visible({nodes, edges: []}, new Set(), new Set()).nodes.map(({id}) => id),
    ["s:b", "e:b/2", "s:a", "e:a/1", "e:a/9", "t:seats"]);
});

test("nodes have addresses, names and shapes", () => {
  assert.equal(addressOf({id: "s:a b", kind: "session", session_id: "a b"}), "/session/a%20b");
  assert.equal(addressOf({id: "t:a&b", kind: "topic", session_id: ""}), "/search?topic=a%26b");
  assert.equal(addressOf({id: "e:s/a/b", kind: "fact", session_id: "s"}), "/entry/s/a%2Fb");
  assert.equal(spoken({kind: "decision", label: "Use it"}, [{}]), "Decision: Use it. 1 link.");
  assert.equal(kindOf("something").name, "something");
  assert.equal(short("a🐟b c", 4), "a🐟b…");
  assert.equal(short("abcd", 4), "abcd");
});

test("the drawing stays in the frame: as it grows, when it is dragged, when one zooms", () => {
  const camera = new Camera({clientWidth: 900, clientHeight: 500, addEventListener() {}}, () => {});
  const bounds = (size) => ({left: -size, top: -size / 2, width: 2 * size, height: size});
  const isInside = ({left, top, width, height}) => {
    const [x, y] = camera.onScreen(left, top);
    const [right, bottom] = camera.onScreen(left + width, top + height);
    return x >= 0 && y >= 0 && right <= 900 && bottom <= 500;
  };
  for (const size of [50, 500, 5000, 50_000]) {
    camera.follow(bounds(size));
    assert.ok(isInside(bounds(size)), `${size}: as it is laid out`);
    camera.pan(700, -400);
    assert.ok(isInside(bounds(size)), `${size}: dragged`);
  }
  camera.zoom(20);
  camera.pan(1e6, 1e6);
  const [x, y] = camera.onScreen(-50_000, -25_000);
  assert.ok(x >= 0 && x < 100 && y >= 0 && y < 100, "what is larger than the frame fills it");
  const scale = camera.scale;
  camera.follow(bounds(60_000));
  assert.equal(camera.scale, scale, "a zoom lasts");
  camera.fit(bounds(60_000));
  assert.ok(isInside(bounds(60_000)));
});

test("names have room: the first ones stay, none lies on another or is cut", () => {
  const box = (left, top) => ({left, top, width: 50, height: 14});
  const boxes = [box(10, 10), box(30, 15), box(61, 10), box(-5, 100), box(10, 190), box(10, 24)];
  assert.deepEqual(withRoom(boxes, 200, 200), [0, 2, 5]);
  const many = Array.from({length: 2000}, (_, i) => box((i * 7919) % 900, (i * 104729) % 500));
  const shown = withRoom(many, 900, 500).map((i) => many[i]);
  assert.ok(shown.length > 50, `only ${shown.length}`);
  for (const one of shown) {
    for (const other of shown) {
      assert.ok(one === other || Math.abs(one.left - other.left) >= 50 || Math.abs(one.top - other.top) >= 14);
    }
  }
});
