// api.js - asks the server.
//
// Each request shows the secret of this page (page_secret.js). No cookie is sent or set.
import {EventStream} from "./event_stream.js";
import {secretHeaders} from "./page_secret.js";

/** What the server refused, or why it could not be asked (status 0). */
export class ApiError extends Error {
  /**
   * @param {number} status 0 when there was no answer.
   * @param {{code?: string, message?: string, field?: string, column?: number}} error
   */
  constructor(status, error) {
    super(error.message ?? `The server answered with status ${status}.`);
    this.name = "ApiError";
    this.status = status;
    this.code = error.code ?? "unknown";
    this.field = error.field;
    this.column = error.column;
  }
}

const kLateMs = 5000;

let whenUnauthorized = () => {};

/** `run` is called when the server doesn't know this browser, or no longer. */
export function onUnauthorized(run) {
  whenUnauthorized = run;
}

/**
 * The address of `path` with `params`; arrays give a parameter several times, and what is null,
 * undefined, false or empty is left out.
 * @returns {string}
 */
export function address(path, params = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value].flat()) {
      if (one !== null && one !== undefined && one !== false && one !== "") {
        search.append(name, String(one));
      }
    }
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

/** A path from its parts, each encoded: path("memory", "record", id). */
export function path(...parts) {
  return "/" + parts.map(encodeURIComponent).join("/");
}

let late = 0;
let whenLate = () => {};

/** `run(isLate)` is called when an answer is late, and when the last one of those has come. */
export function onLate(run) {
  whenLate = run;
}

/** Waits for what was asked of the server. @returns {Promise<*>} `answer`, however late */
export async function awaited(answer) {
  let isLate = false;
  const note = (n) => whenLate((late += n) > 0);
  const timer = setTimeout(() => {
    isLate = true;
    note(1);
  }, kLateMs);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
    if (isLate) {
      note(-1);
    }
  }
}

async function ask(method, url, body, signal) {
  const options = {method, signal, credentials: "omit", headers: secretHeaders()};
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await awaited(fetch(url, options));
  } catch (error) {
    if (error.name === "AbortError") {
      throw error;
    }
    throw new ApiError(0, {
      code: "offline",
      message: "The server doesn't answer. Start it again with `bmad-mem serve`, then retry.",
    });
  }
  return response.ok ? response : refuse(response);
}

async function refuse(response) {
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch {
    // A refusal without JSON has its status only.
  }
  if (response.status === 401) {
    whenUnauthorized();
  }
  throw new ApiError(response.status, error);
}

async function json(method, url, body, signal) {
  const response = await ask(method, url, body, signal);
  return response.status === 204 ? null : response.json();
}

/**
 * What the server says an endpoint does: a page that says it once more is wrong some day.
 * @param {string} route "POST /memory/compact", as in the operation table
 * @returns {Promise<string>} a sentence
 */
export async function summaryOf(route) {
  const [method, url] = route.split(" ");
  return (await api.get("/openapi.json")).paths[url][method.toLowerCase()].summary;
}

/** Every function throws ApiError, or AbortError when `signal` is aborted. */
export const api = {
  /** @returns {Promise<Object>} */
  get: (url, params, {signal} = {}) => json("GET", address(url, params), undefined, signal),
  /** @returns {Promise<string>} the answer as text. */
  text: async (url, params, {signal} = {}) =>
    (await ask("GET", address(url, params), undefined, signal)).text(),
  post: (url, body = {}, {params, signal} = {}) => json("POST", address(url, params), body, signal),
  patch: (url, body, {params, signal} = {}) => json("PATCH", address(url, params), body, signal),
  del: (url, params, {signal} = {}) => json("DELETE", address(url, params), undefined, signal),
  events,
};

// ---- Live events: one stream a tab, whoever listens ----

// A tab may be hidden for a moment only; that is not worth a new stream and a reload.
const kHiddenGraceMs = 5000;
const kRetryMs = 3000;

const listeners = new Set();
let stream = null;
let timer = 0;
let wasClosed = false;
let whenState = () => {};

/** `run("live" | "off")` is called whenever the stream comes or goes. */
export function onStreamState(run) {
  whenState = run;
}

/**
 * Listens to what is written to the memory.
 * @param {{session_id?: string[], type?: string[]}} filter Absent members let all pass.
 * @param {(update: Object) => void} onUpdate One entry: session_id, type, id, headline, …
 * @param {() => void} [onReset] What was missed is not known: load again.
 * @returns {() => void} stops it.
 */
function events(filter, onUpdate, onReset = () => {}) {
  const listener = {filter: filter ?? {}, onUpdate, onReset};
  listeners.add(listener);
  open();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      close();
    }
  };
}

function open() {
  clearTimeout(timer);
  if (stream || listeners.size === 0 || document.hidden) {
    return;
  }
  stream = new EventStream("/memory/events", {headers: secretHeaders, onOpen: opened, onEvent: hear, onRefused: refusedStream,
    onLost: () => whenState("off")});
}

function close() {
  clearTimeout(timer);
  stream?.close();
  stream = null;
  wasClosed = listeners.size > 0;
  whenState("off");
}

function opened() {
  whenState("live");
  if (wasClosed) {
    // A new stream knows nothing of the one before, so nobody knows what was missed.
    wasClosed = false;
    reset();
  }
}

function refusedStream() {
  close();
  timer = setTimeout(open, kRetryMs);
}

function hear({type, data}) {
  if (type === "reset") {
    reset();
  } else if (type === "memory_update") {
    deliver(JSON.parse(data));
  }
}

function reset() {
  for (const listener of [...listeners]) {
    listener.onReset();
  }
}

function deliver(update) {
  for (const {filter, onUpdate} of [...listeners]) {
    const passes = (name) => !filter[name]?.length || filter[name].includes(update[name]);
    if (passes("session_id") && passes("type")) {
      onUpdate(update);
    }
  }
}

// A browser keeps a page that was left, with its stream, and a host gets six connections in all.
// Timers of a kept page don't run: it has to let go at once.
addEventListener("pagehide", close);
addEventListener("pageshow", open);
document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  if (document.hidden) {
    timer = setTimeout(close, kHiddenGraceMs);
  } else {
    open();
  }
});
