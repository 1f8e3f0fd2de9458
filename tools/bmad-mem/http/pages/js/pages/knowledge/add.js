// add.js - the dialog that states something new.
import {api} from "../../api.js";
import {h} from "../../dom.js";
import {kCategories} from "./model.js";

/** Opens the dialog; calls `page.load()` when something was stated. */
export function openAdd(page) {
  const form = new AddForm(page);
  form.open();
}

class AddForm {
  constructor(page) {
    this.page = page;
    this.errors = new Map();
    this.category = h("select", {id: "add-category"}, Object.entries(kCategories).map(([value, text]) =>
      h("option", {value}, text)));
    this.key = h("input", {type: "text", id: "add-key", maxlength: 200, autocomplete: "off",
                           "aria-describedby": "add-key-hint add-key-error"});
    this.value = h("textarea", {id: "add-value", rows: 3, required: true,
                                "aria-describedby": "add-value-error"});
    this.confidence = h("input", {type: "range", id: "add-confidence", min: 0, max: 1, step: 0.05,
                                  value: 0.8});
    this.shown = h("output", {for: "add-confidence"}, "0.80");
    this.confidence.addEventListener("input", () => {
      this.shown.textContent = Number(this.confidence.value).toFixed(2);
    });
    this.agent = h("input", {type: "text", id: "add-agent_id", autocomplete: "off"});
    this.tags = h("input", {type: "text", id: "add-tags", autocomplete: "off",
                            placeholder: "separated by commas"});
  }

  open() {
    const save = h("button", {type: "button", class: "button primary", onclick: () => this.#save()},
                   "Remember");
    this.dialog = this.page.app.dialog({
      title: "Remember something",
      body: [
        this.#field("category", "Category", this.category),
        this.#field("value", "Statement", this.value),
        this.#field("key", "Key", this.key, "A later statement with the same key replaces this one. " +
            "Without a key, no statement replaces it."),
        this.#field("confidence", h("span", null, "Confidence ", this.shown), this.confidence),
        this.#field("agent_id", "Author", this.agent),
        this.#field("tags", "Tags", this.tags),
      ],
      buttons: [h("button", {class: "button", value: "", formnovalidate: true}, "Cancel"), save],
    });
    // By itself, Enter would press the form's first button, which closes the dialog.
    this.dialog.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.matches("input")) {
        event.preventDefault();
        this.#save();
      }
    });
    this.value.focus();
  }

  #field(name, label, input, hint = "") {
    const error = h("p", {class: "field-error", id: `add-${name}-error`, role: "alert"});
    this.errors.set(name, error);
    return h("div", {class: "field"}, h("label", {for: `add-${name}`}, label), input,
             hint && h("p", {class: "muted small", id: `add-${name}-hint`}, hint), error);
  }

  #body() {
    const tags = this.tags.value.split(",").map((tag) => tag.trim()).filter(Boolean);
    return {
      category: this.category.value,
      value: this.value.value.trim(),
      confidence: Number(this.confidence.value),
      ...(this.key.value.trim() && {key: this.key.value.trim()}),
      ...(this.agent.value.trim() && {agent_id: this.agent.value.trim()}),
      ...(tags.length && {tags}),
    };
  }

  #refuse(field, message) {
    const name = this.errors.has(field) ? field : "value";
    this.errors.get(name).textContent = message;
    const input = this.dialog.querySelector(`#add-${name}`);
    input.setAttribute("aria-invalid", "true");
    input.focus();
  }

  async #save() {
    for (const [name, error] of this.errors) {
      error.textContent = "";
      this.dialog.querySelector(`#add-${name}`).removeAttribute("aria-invalid");
    }
    const body = this.#body();
    if (!body.value) {
      this.#refuse("value", "Write the statement.");
      return;
    }
    try {
      const stated = await api.post("/memory/knowledge", body);
      this.dialog.close("done");
      this.page.app.toast([said(stated), ...(stated.notices ?? [])].join(" "));
      await this.page.load();
    } catch (error) {
      this.#refuse(error.field, error.message);
    }
  }
}

function said({holds, is_new: isNew, previous_value: previous}) {
  if (!holds) return "Stored; a more trusted value remains current.";
  if (isNew) return "Remembered.";
  return previous ? "Stored; it replaces another value." : "Stored before; repeated now.";
}
