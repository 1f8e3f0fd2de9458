// timeline.js - what happened in a session, oldest first, with its summary beside it; follows live.
import {h, put} from "../dom.js";
import {address, api, path} from "../api.js";
import {button, bytes, count, empty, entryUrl, local, pageHead, problem, skeleton, time} from "../parts/parts.js";
import {keepView, showEntries, timelineRow} from "../parts/timeline_rows.js";
import {noteSessions, sessionName, sessionTitle} from "../parts/session_names.js";
import {density} from "../parts/density.js";
import {focusedRow, roving} from "../parts/list.js";
import {openDocument} from "../parts/document.js";
import {sessionAside} from "../parts/session_aside.js";
import {typeToggles} from "../parts/filters.js";

/** Title of the window. */
export const title = "Timeline";

const kPage = 200;
const kMost = 1000;  // Entries of one answer.
const kNearEndPx = 160;

/** Shows the page. */
export async function show(main, {params, query, app, signal}) {
  const page = new TimelinePage(app, signal, params.session, query);
  app.setTitle(sessionTitle(params.session));
  put(main, page.view());
  app.keys([
    {keys: "o", text: "Open the entry", run: () => page.openFocused()},
    {keys: "x", text: "Fold or unfold all", run: () => page.foldAll()},
    {keys: "p", text: "Pin or unpin the entry", run: () => page.pinFocused()},
  ]);
  app.onUpdate((update) => page.onUpdate(update), {filter: {session_id: [params.session]}, onReset: () => page.renew()});
  await page.load();
}

class TimelinePage {
  constructor(app, signal, session, query) {
    Object.assign(this, {app, signal, session});
    this.filter = {type: query.getAll("type"), since: query.get("since") ?? "", until: query.get("until") ?? ""};
    this.entries = new Map();
    this.lastId = "";
    this.announced = new Set();
    this.more = false;
    this.at = query.get("at") ?? "";
    this.fresh = 0;
    this.loading = null;
    this.round = 0;
    this.firstFresh = "";
    this.following = null;
    this.isBehind = false;
    this.buckets = null;
  }

  view() {
    this.head = h("div", {}, pageHead(this.session, {lead: "…"}));
    this.chart = h("div", {});
    this.shown = h("div", {class: "chips", role: "status"});
    this.list = h("div", {class: "days"}, skeleton(8));
    this.end = h("div", {class: "more"});
    this.pill = h("div", {class: "pill-place pill-low"});
    return [this.head, this.chart,
      typeToggles(this.filter.type, () => this.chooseTypes()),
      h("div", {class: "beside"},
        h("div", {class: "timeline"}, h("div", {class: "found-head"}, this.shown,
          button("Fold or unfold all", () => this.foldAll(), {kind: "small"})), this.list, this.end, this.pill),
        sessionAside(this.app, this.session, this.signal))];
  }

  async load() {
    this.loadHead();
    this.loadNext();
    while (this.loading) {
      await this.loading;  // It may be begun anew.
    }
    await this.goTo(this.at);
  }

  /** Goes to the entry with this id, when the session has it; far down, the timeline begins at its hour. */
  async goTo(id) {
    if (id && this.more && !this.entries.has(id)) {
      const entry = await this.read(id);
      if (!entry) {
        return;
      }
      await this.beginAt(entry.timestamp);
    }
    while (id && this.more && !this.entries.has(id) && await this.loadNext());
    const row = this.entries.has(id) ? this.rowOf(id) : null;
    if (row) {
      row.querySelector("details").open = true;
      if (row.previousElementSibling && row.dataset.kind === "tool_result") {
        row.previousElementSibling.querySelector("details").open = true;  // Else it hides its answer.
      }
      row.querySelector("summary").focus({preventScroll: true});
      // The shell first puts the page at its top.
      requestAnimationFrame(() => row.scrollIntoView({block: "start"}));
    }
  }

  /** Shows what came from the hour of `timestamp` on. */
  beginAt(timestamp) {
    Object.assign(this.filter, {since: `${timestamp.slice(0, 13)}:00:00.000Z`, until: ""});
    return this.reload();
  }

  rowOf(id) {
    return this.list.querySelector(`li[data-id="${CSS.escape(id)}"]`);
  }

  /** Loads all again, from the beginning. */
  async reload() {
    this.app.setUrl(address(path("session", this.session), this.filter));
    this.loading = null;
    this.round += 1;
    this.entries.clear();
    this.lastId = "";
    this.announced.clear();
    this.setFresh(0);
    put(this.list, skeleton(8));
    await this.loadNext();
  }

  async loadHead() {
    const lead = this.head.querySelector(".lead");
    try {
      const {session} = await api.get(path("memory", "sessions", this.session), {}, {signal: this.signal});
      noteSessions([{...session, title: session.title || sessionTitle(this.session)}]);
      put(this.head.querySelector("h1"), sessionName(this.session));
      this.app.setTitle(sessionTitle(this.session));
      put(lead, [session.state, session.project_name, (session.agent_ids ?? []).join(", "), bytes(session.size_bytes)]
        .filter(Boolean).join(" · "), " · last write ", time(session.last_write));
    } catch (error) {
      put(lead, error.name === "AbortError" ? "" : error.message);
    }
  }

  /** Loads what comes after the last entry that is shown; true when that went well. */
  loadNext() {
    return this.loading ?? this.wait(this.fetchNext(this.round));
  }

  /** Loads again what is shown; whoever reads stays at his place. */
  renew() {
    this.round += 1;
    return this.wait(this.fetchAgain(this.round));
  }

  /** Others wait for it, instead of asking the same. */
  wait(fetching) {
    const loading = fetching.finally(() => (this.loading = this.loading === loading ? null : this.loading));
    this.loading = loading;
    return loading;
  }

  ask(params) {
    return api.get(path("memory", "sessions", this.session, "timeline"), {...this.filter, ...params}, {signal: this.signal});
  }

  async fetchNext(round) {
    const isFirst = this.entries.size === 0;
    put(this.end, isFirst ? null : skeleton(2));
    try {
      const answer = await this.ask({limit: kPage, after: this.lastId});
      if (round !== this.round) {
        return false;  // All was begun anew while this was on its way.
      }
      this.showNext(answer, isFirst);
      return true;
    } catch (error) {
      if (error.field === "after" && round === this.round) {
        await this.renew();  // The last one that is shown was deleted meanwhile.
      } else {
        this.fail(error, round, () => this.loadNext());
      }
      return false;
    }
  }

  async fetchAgain(round) {
    const wanted = this.entries.size + kPage;
    const entries = [];
    let answer;
    try {
      do {
        answer = await this.ask({limit: Math.min(kMost, wanted - entries.length), after: entries.at(-1)?.id});
        if (round !== this.round) {
          return false;
        }
        entries.push(...answer.entries);
      } while (answer.more && entries.length < wanted);
    } catch (error) {
      this.fail(error, round, () => this.renew());
      return false;
    }
    const restoreView = keepView(this.list);
    this.entries.clear();
    this.lastId = "";
    this.showNext({...answer, entries}, true);
    restoreView();
    this.setFresh(this.more || this.filter.until ? this.fresh : 0);
    return true;
  }

  fail(error, round, retry) {
    if (error.name !== "AbortError" && round === this.round) {
      put(this.entries.size === 0 ? this.list : this.end, problem(error, retry));
    }
  }

  showNext(answer, isFirst) {
    if (isFirst) {
      put(this.list);
    }
    this.place(answer.entries.filter(({id}) => !this.entries.has(id)));
    this.lastId = answer.entries.at(-1)?.id ?? this.lastId;
    this.more = answer.more;
    this.showChart(answer.density ?? []);
    this.showRange();
    put(this.end, this.more ? this.moreButton() : null);
    if (this.entries.size === 0) {
      put(this.list, empty("Nothing here.", "No entry of this session passes the filters."));
    }
    roving(this.list);
  }

  place(entries) {
    entries.forEach((entry) => this.entries.set(entry.id, entry));
    showEntries(this.list, entries, {onDocument: (entry) => openDocument(this.app, entry)});
  }

  /** Loads by itself when it comes into view. */
  moreButton() {
    const more = button("Load more", () => this.loadNext());
    const observer = new IntersectionObserver(([seen]) => seen.isIntersecting && this.loadNext(), {rootMargin: "400px"});
    observer.observe(more);
    this.signal.addEventListener("abort", () => observer.disconnect());
    return more;
  }

  /** The chart keeps all times, so that one can go from hour to hour. */
  async showChart(buckets) {
    if (!this.filter.since && !this.filter.until) {
      this.buckets = buckets;
    }
    this.buckets ??= (await api.get(path("memory", "sessions", this.session, "timeline"), {type: this.filter.type, limit: 1},
      {signal: this.signal}).catch(() => ({}))).density ?? [];
    const hadFocus = this.chart.contains(document.activeElement);
    put(this.chart, density(this.buckets, this.filter, (range) => this.choose(range)));
    if (hadFocus) {
      this.chart.querySelector("[tabindex='0']")?.focus();
    }
  }

  showRange() {
    const {since, until} = this.filter;
    put(this.shown, since || until
      ? h("button", {type: "button", class: "chip chip-set", onclick: () => this.choose(null)},
        [since ? `from ${local(since).slice(0, 16)}` : "", until ? `to ${local(until).slice(0, 16)}` : ""].join(" "),
        h("span", {"aria-hidden": "true"}, "✕"), h("span", {class: "hidden"}, ", show all times"))
      : h("span", {class: "muted small"}, count(this.entries.size, "entry", "entries"), this.more ? " so far" : ""));
  }

  chooseTypes() {
    this.buckets = null;
    this.reload();
  }

  choose(range) {
    Object.assign(this.filter, range ?? {since: "", until: ""});
    this.reload();
  }

  foldAll() {
    const all = [...this.list.querySelectorAll("details")];
    const open = all.some((one) => !one.open);
    all.forEach((one) => (one.open = open));
    this.app.announce(open ? "All are unfolded" : "All are folded");
  }

  openFocused() {
    const row = focusedRow();
    if (row?.dataset.id) {
      this.app.navigate(entryUrl(row.dataset.session, row.dataset.id));
    }
  }

  async pinFocused() {
    const entry = this.entries.get(focusedRow()?.dataset.id);
    if (entry) {
      await api.post("/memory/pin", {id: entry.id, session_id: this.session, pinned: !entry.pinned})
        .then(() => this.refresh(entry.id), (error) => this.app.toast(error.message, {tone: "danger"}));
    }
  }

  onUpdate(update) {
    if (this.entries.has(update.id)) {
      this.refresh(update.id);
      return;
    }
    if (this.filter.type.length > 0 && !this.filter.type.includes(update.type)) {
      return;
    }
    this.announced.add(update.id);
    // While the page goes to its end it may not be there yet: rows come before it moves.
    if (this.following || (!this.more && !this.filter.until && this.isAtEnd())) {
      this.follow();
    } else {
      this.firstFresh = this.fresh === 0 ? update.timestamp : this.firstFresh;
      this.setFresh(this.fresh + 1);
    }
  }

  isAtEnd() {
    return this.end.getBoundingClientRect().top < innerHeight + kNearEndPx;
  }

  /** Shows what is new, and goes there. */
  follow() {
    this.isBehind = true;  // What is written while an answer is on its way may be missing in it.
    this.following ??= this.catchUp();
    return this.following;
  }

  async catchUp() {
    try {
      if (this.more || this.filter.until) {
        await this.beginAt(this.firstFresh);  // There may be thousands in between.
      }
      while (this.isBehind && !this.signal.aborted) {
        this.isBehind = false;
        await this.loading;
        while (await this.loadNext() && this.more);
        await this.addLate();
      }
      this.setFresh(0);
      this.end.scrollIntoView({block: "end"});
    } finally {
      this.following = null;  // At once: no update comes between the last look at `isBehind` and this.
    }
  }

  /**
   * A writer takes the time before its turn, so that what comes after the others may belong before
   * them.
   */
  async addLate() {
    const late = [...this.announced].filter((id) => !this.entries.has(id));
    this.announced.clear();
    for (const id of late) {
      const entry = await this.read(id);
      if (entry && !this.entries.has(id) && !(Date.parse(entry.timestamp) < Date.parse(this.filter.since))) {
        this.place([entry]);
      }
    }
    if (late.length > 0) {
      roving(this.list);
      this.showRange();
    }
  }

  /** The entry as it is stored; null when it is not. */
  async read(id) {
    const {entries} = await api.get(path("memory", "record", id), {session_id: this.session}, {signal: this.signal})
      .catch(() => ({entries: []}));
    return entries[0] ?? null;
  }

  setFresh(n) {
    this.fresh = n;
    put(this.pill, n > 0 ? h("button", {type: "button", class: "pill", onclick: () => this.follow()}, `${n} new ↓`) : null);
  }

  /** A new version was written of an entry that is shown. */
  async refresh(id) {
    const entry = await this.read(id);
    const row = this.rowOf(id);
    if (!row || !entry) {
      return;
    }
    this.entries.set(id, entry);
    const hadFocus = row.contains(document.activeElement);
    const fresh = timelineRow(entry, {onDocument: (one) => openDocument(this.app, one)});
    fresh.querySelector("details").open = row.querySelector("details").open;
    row.replaceWith(fresh);
    roving(this.list);
    if (hadFocus) {
      fresh.querySelector("summary").focus();
    }
  }
}
