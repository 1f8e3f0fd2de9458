// How a page shows the server who it is: the code of a link, the secret of a tab, streams with a header.
import assert from "node:assert/strict";
import {createServer} from "node:http";
import {after, test} from "node:test";
import {load} from "./fake_dom.mjs";

const kFetch = globalThis.fetch;

/** A channel that doesn't keep the test alive. */
globalThis.BroadcastChannel = class extends BroadcastChannel {
  constructor(name) {
    super(name);
    this.unref();
  }
};

/** A window as a browser opens it: a store of its own, an address, no memory of others. */
async function tab(hash = "", kept = new Map()) {
  globalThis.sessionStorage = {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
  };
  globalThis.location = {pathname: "/", search: "", hash};
  const visited = [];
  globalThis.history = {replaceState: (state, title, url) => visited.push(url)};
  const asked = [];
  globalThis.fetch = async (url, options) => {
    asked.push({url, ...options});
    return new Response(JSON.stringify(url === "/auth/session" ? {secret: "s3cret"} : {}), {status: tab.status ?? 200});
  };
  const modules = await load("parts/welcome.js", "api.js", "page_secret.js");
  return {...modules, kept, visited, asked};
}

test("a link's code becomes a secret that each request shows in a header", async () => {
  const first = await tab("#code=c0de");
  assert.equal(await first.signIn(), "");
  assert.deepEqual(first.visited, ["/"], "the code stays in the address");
  assert.deepEqual(JSON.parse(first.asked[0].body), {code: "c0de"});
  assert.equal(first.asked[0].headers.Authorization, undefined);
  await first.api.get("/memory/sessions");
  await first.api.post("/memory/pin", {});
  for (const {headers, credentials} of first.asked.slice(1)) {
    assert.equal(headers.Authorization, "Bearer s3cret");
    assert.equal(credentials, "omit");
  }
  assert.deepEqual([...first.kept], [["bmad-mem-secret", "s3cret"]]);

  const reloaded = await tab("", first.kept);
  assert.equal(await reloaded.signIn(), "");
  assert.deepEqual([reloaded.pageSecret(), reloaded.asked.length], ["s3cret", 0]);
});

test("a new tab gets the secret of another one, and no other origin could ask", async () => {
  const second = await tab();
  assert.equal(await second.signIn(), "");
  assert.equal(second.pageSecret(), "s3cret");
});

test("a code that is worth nothing is said, and leaves the address too", async () => {
  tab.status = 401;
  const late = await tab("#code=old");
  assert.match(await late.signIn(), /status 401/);
  assert.deepEqual([late.visited, late.kept.size], [["/"], 0]);
  tab.status = 200;
});

test("a browser that forbids storage keeps the secret until a reload", async () => {
  const strict = await tab("#code=c0de");
  Object.defineProperty(globalThis, "sessionStorage", {configurable: true, get() {
    throw new Error("SecurityError");
  }});
  assert.equal(await strict.signIn(), "");
  assert.equal(strict.pageSecret(), "s3cret");
  Object.defineProperty(globalThis, "sessionStorage", {configurable: true, writable: true, value: undefined});
});

const {EventReader, EventStream} = await load("event_stream.js");

test("events are the same wherever the stream is cut", () => {
  const text = 'retry: 50\nid: b-0\n\n: ka\n\nid: b-1\nevent: memory_update\ndata: {"a":"\u2028é: x"}\n\n' +
    "id: b-2\r\nevent: reset\r\ndata: {}\r\n\r\ndata:one\ndata: two\n\nid: b-9\ndata: never ended\n";
  const expected = [{type: "memory_update", data: '{"a":"\u2028é: x"}'}, {type: "reset", data: "{}"},
    {type: "message", data: "one\ntwo"}];
  for (let at = 0; at <= text.length; at += 1) {
    const reader = new EventReader();
    assert.deepEqual([...reader.take(text.slice(0, at)), ...reader.take(text.slice(at))], expected, `cut at ${at}`);
    assert.deepEqual([reader.lastId, reader.retryMs], ["b-2", 50]);
  }
});

test("a stream comes back with the id of the last event, and ends when it is refused", async () => {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request.headers);
    if (requests.length === 3) {
      response.writeHead(401).end();
      return;
    }
    response.writeHead(200, {"Content-Type": "text/event-stream"});
    response.write(`retry: 10\nid: b-${requests.length}\nevent: memory_update\ndata: ${requests.length}\n\nid: b-9\ndata: cu`);
    setTimeout(() => response.destroy(), 20);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  globalThis.fetch = kFetch;
  const heard = [];
  const status = await new Promise((resolve) => {
    new EventStream(`http://127.0.0.1:${server.address().port}/`, {
      headers: () => ({Authorization: "Bearer s3cret"}),
      onOpen: () => heard.push("open"), onLost: () => heard.push("lost"), onEvent: ({data}) => heard.push(data),
      onRefused: resolve,
    });
  });
  assert.equal(status, 401);
  assert.deepEqual(heard, ["open", "1", "lost", "open", "2", "lost"]);
  assert.deepEqual(requests.map((headers) => headers["last-event-id"]), [undefined, "b-1", "b-2"]);
  assert.ok(requests.every(({authorization, cookie}) => authorization === "Bearer s3cret" && cookie === undefined));
});

test("a stream that is closed asks no more", async () => {
  let asked = 0;
  globalThis.fetch = async () => {
    asked += 1;
    throw new TypeError("the server is gone");
  };
  const stream = new EventStream("/", {headers: () => ({}), onLost: () => stream.close()});
  stream.reader.retryMs = 1;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(asked, 1);
});
