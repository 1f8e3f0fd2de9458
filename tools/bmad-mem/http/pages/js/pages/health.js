// health.js - the page that says how the memory is doing, and takes care of it.
import {api} from "../api.js";
import {h, put} from "../dom.js";
import {News} from "../parts/news.js";
import {pageHead, problem, skeleton} from "../parts/parts.js";
import {actionButtons} from "./health/actions.js";
import {decay} from "./health/decay.js";
import {deletions, due, retention} from "./health/retention.js";
import {section} from "./health/sections.js";
import {settings} from "./health/settings.js";
import {hub, locks, problems, redaction, sizes, tiles} from "./health/storage.js";
import {verify} from "./health/verify.js";

export const title = "Health";

class HealthPage {
  constructor(main, {app, signal}) {
    this.app = app;
    this.signal = signal;
    this.news = new News("load again", () => this.load());
    this.summary = h("div", null, skeleton(2));
    this.state = h("div", {class: "health-grid-of-cards"}, skeleton(8));
    this.aging = h("div", null, skeleton(6));
    this.rules = h("div", null, skeleton(4));
    main.append(
        pageHead("Health", {
          lead: "Storage, retention and scheduled tasks.",
          actions: [this.news.button, ...actionButtons(this)],
        }),
        this.summary, this.state, this.aging, verify(this), this.rules);
    app.onUpdate(() => this.news.add(), {onReset: () => this.load()});
  }

  /** Loads everything; what can't be read leaves the rest in place. */
  async load() {
    this.news.clear();
    await Promise.all([this.#loadState(), this.#loadDecay(), this.loadSettings()]);
  }

  async #loadState() {
    await this.#fill(this.state, "/memory/health", (health) => {
      this.compactButton.hidden = !(health.over_trigger > 0);
      put(this.summary, tiles(health),
          h("p", {class: "muted small"}, health.root, ` · bmad-mem ${health.version}`, hub(health)));
      return [problems(health.problems ?? []),
              h("div", {class: "health-stack"}, sizes(health), redaction(health)),
              h("div", {class: "health-stack"}, due(health), locks(health)),
              retention(health), deletions(this, health)];
    });
  }

  #loadDecay() {
    return this.#fill(this.aging, "/memory/decay", decay);
  }

  loadSettings() {
    return this.#fill(this.rules, "/memory/settings", (answer) => settings(this, answer));
  }

  async #fill(place, url, show) {
    try {
      put(place, show(await api.get(url, {}, {signal: this.signal})));
    } catch (error) {
      if (this.signal.aborted) return;
      put(place, section("Not read", {wide: true}, problem(error, () => this.load())));
    }
  }
}

/** Shows the page. */
export async function show(main, context) {
  await new HealthPage(main, context).load();
}
