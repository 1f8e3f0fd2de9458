// What the page Knowledge says about statements that differ.
import assert from "node:assert/strict";
import {test} from "node:test";
import {load} from "./fake_dom.mjs";

const {values, why, isSettled, identity} = await load("pages/knowledge/model.js");

/** An item from [value, day, {holds, trust, review}] in the order of time. */
function item(...stated) {
  return {chain: stated.map(([value, day, rest = {}]) => (
    {value, at: `2026-10-${day}T00:00:00Z`, trust: 1, confidence: 0.8, holds: false, review: "", ...rest}))};
}

test("the value that holds comes first, then the newest", () => {
  const one = item(["a", "01"], ["b", "02", {holds: true}], ["c", "03", {trust: 0.2}], ["a", "04", {trust: 0.2}]);
  assert.deepEqual(values(one).map(({value}) => value), ["b", "a", "c"]);
  assert.deepEqual(values(one).map(({statements}) => statements.length), [1, 2, 1]);
  assert.deepEqual(values({}), []);
});

test("it is said why a value holds, and why another does not", () => {
  const reasons = (one) => values(one).map((group) => why(one, group));
  const rows = [
    [item(["a", "01"], ["b", "02", {holds: true}]), [/latest statement/, /earlier statement/]],
    [item(["a", "01", {holds: true}], ["b", "02", {trust: 0.2}]), [/less trusted/, /Newer, but its trust is below/]],
    [item(["a", "01", {holds: true}], ["b", "02", {review: "candidate"}]), [/not been accepted/, /candidate/]],
    [item(["a", "01", {holds: true}], ["b", "02", {review: "dropped"}]), [/not been accepted/, /dropped/]],
  ];
  for (const [one, expected] of rows) {
    reasons(one).forEach((reason, i) => assert.match(reason, expected[i]));
  }
});

test("a contradiction is settled when what holds was stated again", () => {
  const rows = [
    ["two values, each once", item(["a", "01"], ["b", "02", {holds: true}]), false],
    ["the first one again", item(["a", "01"], ["b", "02"], ["a", "03", {holds: true}]), true],
    ["the last one again", item(["a", "01"], ["b", "02"], ["b", "03", {holds: true}]), true],
    ["and then another", item(["a", "01"], ["b", "02"], ["a", "03"], ["c", "04", {holds: true}]), false],
    ["twice, before the other came", item(["a", "01"], ["a", "02", {holds: true}], ["b", "03", {trust: 0.1}]), false],
    ["no other value", item(["a", "01"], ["a", "02", {holds: true}]), false],
  ];
  for (const [name, one, expected] of rows) {
    assert.equal(isSettled(one), expected, name);
  }
});

test("items without a key are told apart by their entries", () => {
  const row = {category: "pattern", key: "", session_id: "s", id: "1"};
  assert.notEqual(identity(row), identity({...row, id: "2"}));
  assert.equal(identity({...row, key: "k"}), identity({...row, key: "k", id: "2"}));
});
