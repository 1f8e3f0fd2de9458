// event_stream.js - events of a server as EventSource reads them, asked for with headers, which
// EventSource can't send.
//
//   fetch ──bytes──> EventReader ──event──> onEvent
//     ^                                        │ the connection ends
//     └──── after `retry` ms, Last-Event-ID <──┘

/** Takes a stream's text apart, wherever it is cut. */
export class EventReader {
  constructor() {
    this.rest = "";
    this.lastId = "";
    this.retryMs = 2000;
    this.begin();
  }

  begin() {
    this.type = "";
    this.data = [];
    this.id = this.lastId;
  }

  /** What the last connection left behind is no part of the next. */
  cut() {
    this.rest = "";
    this.begin();
  }

  /** @returns {{type: string, data: string}[]} the events that `text` completes. */
  take(text) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    return lines.map((line) => this.takeLine(line.replace(/\r$/, ""))).filter(Boolean);
  }

  takeLine(line) {
    if (line === "") {
      const event = this.data.length > 0 && {type: this.type || "message", data: this.data.join("\n")};
      this.lastId = this.id;
      this.begin();
      return event;
    }
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);  // U+2028 is a letter here.
    if (name === "data") {
      this.data.push(value);
    } else if (name === "event") {
      this.type = value;
    } else if (name === "id") {
      this.id = value;
    } else if (name === "retry" && /^\d+$/.test(value)) {
      this.retryMs = Number(value);
    }
    return null;
  }
}

/** Reads events until close(), and connects again whenever the connection ends. */
export class EventStream {
  /**
   * @param {string} url
   * @param {{headers: () => Object, onOpen: () => void, onEvent: (event: {type: string, data: string}) => void,
   *   onLost: () => void, onRefused: (status: number) => void}} hooks after onRefused nothing comes.
   */
  constructor(url, hooks) {
    Object.assign(this, {url, hooks, reader: new EventReader(), leaving: new AbortController()});
    this.run();
  }

  close() {
    this.leaving.abort();
  }

  async run() {
    const {signal} = this.leaving;
    while (!signal.aborted) {
      const refused = await this.connect(signal).catch(() => 0);
      if (signal.aborted) {
        return;
      }
      if (refused) {
        this.hooks.onRefused(refused);
        return;
      }
      this.hooks.onLost();
      await new Promise((resolve) => setTimeout(resolve, this.reader.retryMs));
    }
  }

  /** Returns the status when the server refuses, 0 when the stream has ended. */
  async connect(signal) {
    const {reader, hooks} = this;
    reader.cut();
    const response = await fetch(this.url, {signal, cache: "no-store", credentials: "omit", headers: {
      ...hooks.headers(), Accept: "text/event-stream", ...(reader.lastId ? {"Last-Event-ID": reader.lastId} : {})}});
    if (!response.ok) {
      return response.status;
    }
    hooks.onOpen();
    const bytes = response.body.getReader();
    const decoder = new TextDecoder();
    for (let {done, value} = await bytes.read(); !done && !signal.aborted; {done, value} = await bytes.read()) {
      for (const event of reader.take(decoder.decode(value, {stream: true}))) {
        queueMicrotask(() => hooks.onEvent(event));  // What it throws doesn't end the stream.
      }
    }
    return 0;
  }
}
