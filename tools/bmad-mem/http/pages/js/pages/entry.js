// entry.js - one entry: what it holds, its versions, what it is linked to; change it, forget it.
import {h, put} from "../dom.js";
import {api, path, summaryOf} from "../api.js";
import {sessionName} from "../parts/session_names.js";
import {button, count, empty, entryUrl, exactTime, local, marks, pageHead, problem, sessionUrl, skeleton, time, typeBadge} from "../parts/parts.js";
import {fieldLabel, kMainFields, laidOut, mainContent, references, whoOf} from "../parts/content.js";
import {editForm} from "../parts/entry_edit.js";
import {relatedGroups} from "../parts/related.js";
import {tagEditor} from "../parts/tags.js";
import {versionList} from "../parts/versions.js";

/** Title of the window. */
export const title = "Entry";

// They are in the head, or have a place of their own; a snapshot of the decay says nothing today.
const kShownElsewhere = new Set(["id", "timestamp", "tags", "pinned", "sensitive", "references", "links", "updated_at", "written_at",
  "decay_factor"]);

/** Shows the page. */
export async function show(main, {params, app, signal}) {
  const page = new EntryPage(main, app, signal, params);
  put(main, h("h1", {tabindex: -1, class: "hidden"}, "Entry"), skeleton(8));
  app.keys([
    {keys: "e", text: "Edit", run: () => page.edit()},
    {keys: "p", text: "Pin or unpin", run: () => page.pin()},
    {keys: "t", text: "Add a tag", run: () => document.getElementById("new-tag")?.focus()},
    {keys: "u", text: "Go to its place in the timeline", run: () => app.navigate(page.placeUrl())},
  ]);
  app.onUpdate((update) => update.id === params.id && page.refresh(), {filter: {session_id: [params.session]},
    onReset: () => page.refresh()});
  await page.load();
}

class EntryPage {
  constructor(main, app, signal, {session, id}) {
    Object.assign(this, {main, app, signal, session, id});
    this.url = path("memory", "record", id);
    this.where = {session_id: session};
    this.entry = null;
    this.editing = false;
    this.shown = "";
  }

  placeUrl() {
    return `${sessionUrl(this.session)}?at=${encodeURIComponent(this.id)}`;
  }

  async load() {
    const {entries} = await api.get(this.url, this.where, {signal: this.signal}).catch(async (error) => {
      if (error.status !== 404) {
        throw error;
      }
      return {entries: []};
    });
    if (entries.length === 0) {
      await this.lookElsewhere();
      return;
    }
    await this.showEntry(entries[0]);
  }

  /** References name an id without its session. */
  async lookElsewhere() {
    const {entries} = await api.get(this.url, {}, {signal: this.signal}).catch((error) => {
      if (error.status !== 404) {
        throw error;
      }
      return {entries: []};
    });
    if (entries.length > 0) {
      await this.app.navigate(entryUrl(entries[0].session_id, this.id), {replace: true});
      return;
    }
    this.app.setTitle("No such entry");
    put(this.main, pageHead("No such entry"), empty(`There is no entry ${this.id}.`,
      h("p", {}, "It may have been deleted. Recent deletions can be undone: ",
        h("code", {}, `bmad-mem undelete ${this.id}`), "."),
      h("p", {}, h("a", {href: sessionUrl(this.session)}, "To the session"), " · ", h("a", {href: "/"}, "To the search"))));
  }

  /** Shows what is stored now, unless somebody is just editing. */
  async refresh() {
    if (!this.entry) {
      return;
    }
    const {entries} = await api.get(this.url, this.where, {signal: this.signal}).catch(() => ({entries: []}));
    if (entries.length === 0 || JSON.stringify(entries[0]) === this.shown) {
      return;
    }
    if (this.editing) {
      this.app.toast("Another program wrote a new version meanwhile. Fields you do not change keep its values.");
      return;
    }
    await this.showEntry(entries[0]);
  }

  async showEntry(entry) {
    const isFirst = this.entry === null;
    const {activeElement: focused} = document;
    const mustFocus = isFirst || this.main.contains(focused);
    this.entry = entry;
    this.shown = JSON.stringify(entry);
    this.app.setTitle(entry.headline || this.id);
    if (!this.editing) {  // Else what is being typed stays.
      this.content = h("div", {class: "entry-content"}, this.contentView());
    }
    const typed = document.getElementById("new-tag")?.value ?? "";
    this.versions = h("div", {});
    this.related ??= h("div", {});
    put(this.main, this.headView(), h("div", {class: "beside"},
      h("div", {class: "entry-main"}, this.content, this.versions, this.related),
      h("aside", {class: "aside", "aria-label": "About this entry"},
        tagEditor(entry.fields.tags ?? [], typed, (tags) => this.setTags(tags)), this.aboutView())));
    if (mustFocus) {
      const same = isFirst ? null : document.getElementById(focused.id);
      (same ?? this.main.querySelector("h1")).focus({preventScroll: true});
    }
    await Promise.all([this.loadVersions(), isFirst ? this.loadRelated() : null]);
  }

  headView() {
    const {entry} = this;
    const by = whoOf(entry) ? ` by ${whoOf(entry)}` : "";
    // Its text follows in full: a headline would say it twice.
    return h("div", {class: "entry-head"},
      pageHead([typeBadge(entry.type), by], {
        lead: [time(entry.timestamp), " in ", h("a", {href: this.placeUrl()}, sessionName(entry.session_id)), marks(entry)],
        actions: [
          button("Edit", () => this.edit(), {id: "do-edit"}),
          button(entry.pinned ? "Unpin" : "Pin", () => this.pin(), {id: "do-pin"}),
          button(entry.sensitive ? "Not sensitive" : "Mark sensitive", () => this.markSensitive(), {id: "do-sensitive"}),
          button("Delete…", () => this.remove(), {kind: "danger", id: "do-delete"}),
        ]}));
  }

  contentView() {
    const main = new Set(kMainFields[this.entry.type] ?? []);
    const others = Object.entries(this.entry.fields).filter(([name]) => !main.has(name) && !kShownElsewhere.has(name));
    return [
      h("section", {class: "card main-content", "aria-label": "Content"}, mainContent(this.entry), references(this.entry)),
      others.length === 0 ? null : h("section", {class: "card"}, h("h2", {}, "Details"),
        h("dl", {class: "members"}, others.map(([name, value]) =>
          h("div", {}, h("dt", {}, fieldLabel(name)), h("dd", {}, laidOut(value)))))),
    ];
  }

  aboutView() {
    const {entry} = this;
    const lines = [["id", entry.id], ["written", exactTime(entry.timestamp)],
      entry.fields.updated_at ? ["changed", exactTime(entry.fields.updated_at)] : null, ["stored in", `line ${entry.line} of its file`],
      ["versions", String(entry.versions)]].filter(Boolean);
    return h("section", {class: "card"}, h("h2", {}, "About"), h("dl", {class: "members"}, lines.map(([name, text]) =>
      h("div", {}, h("dt", {}, name), h("dd", {class: name === "id" ? "mono" : null}, text)))),
    entry.type === "artifact" ? h("p", {class: "spaced"}, button("Read the document", () => this.openDocument())) : null);
  }

  async loadVersions() {
    if (this.entry.versions <= 1) {
      put(this.versions);
      return;
    }
    try {
      const {versions} = await api.get(`${this.url}/history`, this.where, {signal: this.signal});
      put(this.versions, h("section", {class: "card"}, h("h2", {}, "Versions"), versionList(versions)));
    } catch (error) {
      this.showProblem(this.versions, error, () => this.loadVersions());
    }
  }

  async loadRelated() {
    try {
      const {related} = await api.get(`${this.url}/related`, {limit: 20}, {signal: this.signal});
      put(this.related, relatedGroups(related));
    } catch (error) {
      this.showProblem(this.related, error, () => this.loadRelated());
    }
  }

  showProblem(place, error, retry) {
    if (error.name !== "AbortError") {
      put(place, problem(error, retry));
    }
  }

  async openDocument() {
    const {openDocument} = await import("../parts/document.js");
    await openDocument(this.app, this.entry);
  }

  edit() {
    if (!this.entry || this.editing) {
      return;
    }
    this.editing = true;
    const stop = () => {
      this.editing = false;
      put(this.content, this.contentView());
      document.getElementById("do-edit")?.focus();
    };
    put(this.content, editForm(this.entry, {cancel: stop, save: async (changes) => {
      const {entry} = await api.patch(this.url, changes, {params: this.where});
      this.editing = false;
      await this.showEntry(entry);
      this.app.toast("Saved as a new version.");
      document.getElementById("do-edit")?.focus();
    }}));
  }

  /** Writes, shows the answer, and says so. */
  async change(write, said) {
    if (!this.entry) {
      return;
    }
    try {
      const entry = await write();
      if (JSON.stringify(entry) !== this.shown) {  // The news of it may have come before its answer.
        await this.showEntry(entry);
      }
      this.app.announce(said(entry));
    } catch (error) {
      this.app.toast(error.message, {tone: "danger"});
    }
  }

  patch(changes) {
    return api.patch(this.url, changes, {params: this.where}).then(({entry}) => entry);
  }

  pin() {
    return this.change(async () => {
      await api.post("/memory/pin", {id: this.id, ...this.where, pinned: !this.entry.pinned});
      return (await api.get(this.url, this.where)).entries[0];
    }, ({pinned}) => (pinned ? "Pinned" : "Unpinned"));
  }

  markSensitive() {
    return this.change(() => this.patch({sensitive: this.entry.sensitive ? null : true}),
      ({sensitive}) => (sensitive ? "Marked as sensitive" : "Not marked as sensitive"));
  }

  async setTags(tags) {
    await this.change(() => this.patch({tags}), () => `Tags: ${tags.join(", ") || "none"}`);
    document.getElementById("new-tag")?.focus();
  }

  async remove() {
    try {
      const [plan, about] = await Promise.all([api.del(this.url, {...this.where, dry_run: true}),
        summaryOf("DELETE /memory/record/{id}")]);
      const sure = await this.app.confirm({title: "Delete this entry?", action: "Delete", danger: true, text: [
        about, `This deletes ${count(plan.lines, "line")}.`,
        plan.elsewhere?.length ? `Its words are also in ${plan.elsewhere.map((one) => one.path).join(", ")}.` : ""].filter(Boolean)});
      if (!sure) {
        return;
      }
      const {expires_at: until} = await api.del(this.url, this.where);
      if (!this.signal.aborted) {
        await this.app.navigate(sessionUrl(this.session));
      }
      this.app.toast(until ? `Deleted; kept until ${local(until).slice(0, 10)}.` : "Deleted.",
        {action: "Undo", onAction: () => this.undelete()});
    } catch (error) {
      this.app.toast(error.message, {tone: "danger"});
    }
  }

  async undelete() {
    try {
      await api.post("/memory/undelete", {ids: [this.id]});
      await this.app.navigate(entryUrl(this.session, this.id));
      this.app.announce("Restored");
    } catch (error) {
      this.app.toast(error.message, {tone: "danger"});
    }
  }
}
