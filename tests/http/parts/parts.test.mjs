// What the parts of the pages make of texts, addresses and versions.
import assert from "node:assert/strict";
import {test} from "node:test";
import {load, outline} from "./fake_dom.mjs";

const {bySaid, byDay, hitText, sessionPasses, snippetFields, local, days, markdown, highlighted, differences, route, address, path, ago, bytes, count, laidOut, marks, headlineOf, titleOf} = await load(
  "parts/markdown.js", "parts/highlight.js", "parts/versions.js", "parts/router.js", "api.js", "parts/parts.js",
  "parts/content.js", "pages/sessions.js", "parts/session_names.js");

const shown = (text) => markdown(text).map(outline).join("");

test("Markdown becomes elements", () => {
  const rows = [
    ["# Seats", "<h3>Seats</h3>"],
    ["###### Deep", "<h6>Deep</h6>"],
    ["one\ntwo\n\nthree", "<p>one\ntwo</p><p>three</p>"],
    ["a **b** *c* `d*e*`", "<p>a <strong>b</strong> <em>c</em> <code>d*e*</code></p>"],
    ["- a\n- b\n  more", "<ul><li>a</li><li>b more</li></ul>"],
    ["1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"],
    ["> a\n> b", "<blockquote><p>a\nb</p></blockquote>"],
    ["```sh\nls *a*\n```", "<pre><code>ls *a*</code></pre>"],
    ["```\nnot closed", "<pre><code>not closed</code></pre>"],
    ["a\n\n---\nb", "<p>a</p><hr></hr><p>b</p>"],
    ["2 * 3 * 4", "<p>2 * 3 * 4</p>"],
    ["an _open_ file_name_here", "<p>an <em>open</em> file_name_here</p>"],
    ["# Task\n_What was asked for._\nDone: all", "<h3>Task</h3><p class=muted small><em>What was asked for.</em></p><p>Done: all</p>"],
    ["", ""],
  ];
  for (const [text, expected] of rows) {
    assert.equal(shown(text), expected, text);
  }
  assert.match(shown("| a | b |\n|---|---|\n| 1 | `2` |"), /<th scope=col>a<\/th>.*<td><code>2<\/code><\/td>/);
});

test("what is hostile in Markdown stays text", () => {
  assert.equal(shown("<script>alert(1)</script>"), "<p><script>alert(1)</script></p>");
  assert.equal(markdown("<script>alert(1)</script>")[0].children[0].tag, "#text");
  assert.equal(shown("[x](javascript:alert)"), "<p>[x](javascript:alert)</p>");
  assert.equal(shown("[x](data:text/html,a)"), "<p>[x](data:text/html,a)</p>");
  assert.match(shown("[x](https://example.org/a)"), /<a href=https:\/\/example.org\/a target=_blank rel=noopener noreferrer>x<\/a>/);
});

test("long and deep texts take no long time", () => {
  // Quadratic ones would not end before the test is ended.
  for (const text of ["*".repeat(100000), "_a ".repeat(30000), "> ".repeat(5000) + "x", "[".repeat(100000), "- a\n".repeat(20000),
    "|a|b\n".repeat(20000), "```\n".repeat(20001), "a\n".repeat(20000)]) {
    assert.ok(markdown(text).length > 0);
  }
});

test("highlights are bytes of UTF-8", () => {
  const marked = (text, highlights) => highlighted(text, highlights).map((one) => (typeof one === "string" ? one : outline(one))).join("");
  assert.equal(marked("das Café ist zu", [{offset: 4, size: 5}]), "das <mark>Café</mark> ist zu");
  assert.equal(marked("🐟 und 🐟", [{offset: 9, size: 4}, {offset: 0, size: 4}]), "<mark>🐟</mark> und <mark>🐟</mark>");
  assert.equal(marked("abc", [{offset: 1, size: 9}]), "abc");
  assert.equal(marked("abc", [{offset: 0, size: 2}, {offset: 1, size: 2}]), "<mark>ab</mark>c");
  assert.equal(marked("<b>", []), "<b>");
});

test("a hit says each of its fields once, and marks the one that matched", () => {
  const snippet = "Ünïque key · payments · payments · high";
  const fields = snippetFields(snippet, [{offset: 9, size: 3}, {offset: 16, size: 8}]);
  assert.deepEqual(fields.map(({text, highlights}) => [text, highlights.map(({offset}) => offset)]),
    [["Ünïque key", [9]], ["payments", [0]], ["high", []]]);
  const hit = {headline: "Ünïque key", id: "x", snippet, highlights: [{offset: 9, size: 3}, {offset: 16, size: 8}]};
  assert.equal(hitText(hit).flat().map(outline).join(""), "<span class=row-text>Ünïque <mark>key</mark></span>" +
    "<span class=row-also><mark>payments</mark></span>");
  const cut = {headline: "[high] Send the key with it", id: "x", snippet: "Send the key", highlights: [{offset: 9, size: 3}]};
  assert.equal(hitText(cut).flat().map(outline).join(""), "<span class=row-text>[high] Send the <mark>key</mark> with it</span>");
});

test("sessions stand below the day on which something was said last", () => {
  const at = (id, newest) => ({session_id: id, newest});
  const groups = byDay([at("a", "2026-05-02T12:00:00Z"), at("b", "2026-05-02T11:00:00Z"), at("c", "2026-05-01T12:00:00Z"), {session_id: "d"}]);
  assert.deepEqual(groups.map(([day, those]) => [day, those.map((one) => one.session_id)]),
    [["2 May 2026", ["a", "b"]], ["1 May 2026", ["c"]], ["Without a date", ["d"]]]);
});

test("sessions stand by what was said last, and are found by any of their words", () => {
  const sessions = [{session_id: "a", last_write: "2026-11-20T00:00:00Z"},
    {session_id: "b", last_write: "2026-11-21T00:00:00Z", title: "Retry payments", project_name: "shop", state: "active"}];
  const sorted = bySaid(sessions, [{session_id: "a", newest: "2026-05-02T00:00:00Z", oldest: "2026-05-01T00:00:00Z", entries: 2},
    {session_id: "b", newest: "2025-01-01T00:00:00Z", entries: 1}]);
  assert.deepEqual(sorted.map((one) => one.session_id), ["a", "b"]);
  assert.ok(sessionPasses(sorted[1], {text: "PAY shop", state: "active", project: "shop"}));
  assert.ok(!sessionPasses(sorted[1], {text: "other"}) && !sessionPasses(sorted[0], {state: "active"}));
});

test("a title goes on where the line has room", () => {
  const request = "Fix the login, which fails when somebody has two windows open and the first one was signed out";
  const title = "Fix the login, which fails when somebody has two…";
  assert.equal(titleOf({session_id: "s", title, first_request: request}), request);
  assert.equal(titleOf({session_id: "s", title: "Login", first_request: request}), "Login");
  assert.equal(titleOf({session_id: "s", title: "Of a summary…", first_request: request}), "Of a summary…");
  assert.equal(titleOf({session_id: "s"}), "s");
  const entry = {id: "x", type: "decision", headline: "[high] Fix the login, which fails when…", fields: {decision: `${request}\n\nNow.`}};
  assert.equal(headlineOf(entry), `[high] ${request} Now.`);
  assert.equal(headlineOf({...entry, headline: "Fix it"}), "Fix it");
  assert.equal(headlineOf({...entry, fields: {}}), entry.headline);
  assert.equal(headlineOf({id: "x", type: "fact", headline: ""}), "x");
  assert.match(headlineOf({...entry, fields: {decision: `${request} `.repeat(9)}}), /^.{290,299}[^…]…$/);
});

test("times are those of the reader", () => {
  const at = new Date(2026, 4, 1, 9, 5, 7);
  assert.equal(local(at.toISOString()), "2026-05-01 09:05:07");
  assert.equal(days(at, new Date(2026, 4, 3)), "1 May 2026 – 3 May 2026");
  assert.equal(days(at, at), "1 May 2026");
});

test("versions differ member by member", () => {
  assert.deepEqual(differences({a: 1, b: [1], c: "x"}, {a: 1, b: [2], d: null}), [
    {name: "b", before: [1], after: [2]}, {name: "c", before: "x", after: undefined},
    {name: "d", before: undefined, after: null}]);
  assert.deepEqual(differences({a: {b: 1}}, {a: {b: 1}}), []);
});

test("addresses lead to pages", () => {
  assert.equal(route("/").page, "search");
  assert.equal(route("/search/").page, "search");
  assert.deepEqual(route("/entry/s%2F1/a%20b").params, {session: "s/1", id: "a b"});
  for (const nowhere of ["/x", "/entry/a", "/session", "/session/%E0%A4%A"]) {
    assert.equal(route(nowhere), null, nowhere);
  }
});

test("addresses of the API leave out what says nothing", () => {
  assert.equal(address("/a", {q: "x y", type: ["b", "c"], since: "", pinned: false, k: 0, n: null}), "/a?q=x+y&type=b&type=c&k=0");
  assert.equal(address("/a", {}), "/a");
  assert.equal(path("memory", "record", "a/b?c"), "/memory/record/a%2Fb%3Fc");
});

test("an entry is marked as pinned, sensitive, yours and changed where it is", () => {
  const chips = (entry) => marks(entry).map((chip) => chip.children[0].text);
  assert.deepEqual(chips({versions: 1}), []);
  assert.deepEqual(chips({scope: "user"}), ["Yours"]);
  assert.deepEqual(chips({pinned: true, sensitive: true, scope: "user", versions: 3}), ["Pinned", "Sensitive", "Yours", "3 versions"]);
});

test("times, sizes and numbers are for people", () => {
  const now = Date.parse("2026-10-02T12:00:00Z");
  assert.equal(ago("2026-10-02T11:59:40Z", now), "now");
  assert.equal(ago("2026-10-02T09:00:00Z", now), "3 hours ago");
  assert.equal(ago("2026-10-01T11:00:00Z", now), "1 day ago");
  assert.deepEqual([0, 1023, 1024, 10485760].map(bytes), ["0 B", "1023 B", "1.0 KB", "10.0 MB"]);
  assert.equal(count(1, "entry", "entries"), "1 entry");
  assert.equal(count(1234, "entry", "entries"), "1,234 entries");
});

test("values of any depth are laid out", () => {
  assert.match(outline(laidOut({a: ["x"], b: {c: true}})), /<dt>a<\/dt>.*x.*<dt>c<\/dt><dd><code>true<\/code>/);
  let deep = "end";
  for (let i = 0; i < 1000; i += 1) {
    deep = [{deep}];
  }
  assert.match(outline(laidOut(deep)), /<pre>/);
});
