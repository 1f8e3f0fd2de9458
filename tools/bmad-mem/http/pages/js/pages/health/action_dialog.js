// action_dialog.js - looks first what would happen, then asks, then does it.
import {summaryOf} from "../../api.js";
import {h, put} from "../../dom.js";
import {problem, skeleton} from "../../parts/parts.js";

/**
 * Opens the dialog of an action.
 * @param {{app: Object, load: () => Promise<void>}} page
 * @param {Object} kind one of actions.js: `route` is that of the operation; `preview` asks what would happen; unless `isEmpty`, `show`
 *   says it and `action` names the button (nothing: not yet); `run` does it, `done` says what was done.
 *   Where something is chosen first, `look` asks what that choice would do, and `tell` says it.
 */
export function openAction(page, kind) {
  new ActionDialog(page, kind).open();
}

class ActionDialog {
  constructor(page, kind) {
    this.page = page;
    this.kind = kind;
    this.isWith = false;
    this.asked = 0;
  }

  open() {
    const {kind} = this;
    this.place = h("div", {class: "health-preview", "aria-live": "polite"});
    this.about = h("p", null);
    // A button without a value: the dialog stays open until the work is done.
    this.doIt = h("button", {type: "button", class: "button danger", hidden: true,
                             onclick: () => this.#run()});
    this.dialog = this.page.app.dialog({
      title: kind.title,
      wide: true,
      body: [this.about, kind.option && this.#option(), this.place],
      buttons: [h("button", {class: "button", value: ""}, "Cancel"), this.doIt],
    });
    this.#look();
    summaryOf(kind.route).then((text) => put(this.about, text)).catch(() => {});  // The preview reports why.
  }

  #option() {
    const {name, text} = this.kind.option;
    this.box = h("input", {type: "checkbox", id: `action-${name}`, onchange: () => {
      this.isWith = this.box.checked;
      this.#look();
    }});
    return h("p", {class: "check"}, this.box, h("label", {for: `action-${name}`}, text));
  }

  async #look() {
    const {kind} = this;
    const asked = ++this.asked;
    this.doIt.hidden = true;
    put(this.place, skeleton(4));
    try {
      const found = await kind.preview(this.isWith);
      if (asked === this.asked) this.#offer(found);  // Else the option has changed meanwhile.
    } catch (error) {
      put(this.place, problem(error, () => this.#look()));
    }
  }

  #offer(found) {
    const {kind} = this;
    if (kind.isEmpty(found)) {
      put(this.place, h("p", null, kind.nothing),
          found.held_back && h("p", {class: "muted small"}, `Held back: ${found.held_back}`));
      return;
    }
    this.told = h("div", null);
    put(this.place, kind.show(found), this.told);
    this.place.onchange = () => this.#name(found);
    this.#name(found);
  }

  /** Names the button, once it is said what it would do. */
  async #name(found) {
    const {kind} = this;
    const name = kind.action(found, this.dialog);
    const asked = ++this.asked;
    this.doIt.hidden = true;
    if (kind.look && name) {
      put(this.told, skeleton(1));
      try {
        const would = await kind.look(this.dialog);
        if (asked !== this.asked) return;  // Another one was chosen meanwhile.
        put(this.told, kind.tell(would));
      } catch (error) {
        if (asked === this.asked) put(this.told, problem(error));
        return;
      }
    }
    this.doIt.textContent = name;
    this.doIt.hidden = name === "";
  }

  async #run() {
    const {kind, page} = this;
    this.doIt.disabled = true;
    if (this.box) this.box.disabled = true;
    const wait = h("progress", {"aria-label": `${kind.title}: at work`, class: "health-progress"});
    this.place.append(wait);
    try {
      const result = await kind.run(this.isWith, this.dialog);
      this.dialog.close("done");
      page.app.toast(kind.done(result));
      await page.load();
    } catch (error) {
      wait.remove();
      this.doIt.disabled = false;
      if (this.box) this.box.disabled = false;
      this.place.append(problem(error));
    }
  }
}
