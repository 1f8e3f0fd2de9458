// tags.js - the tags of an entry: leave one out, add one.
import {h} from "../dom.js";
import {address} from "../api.js";
import {button} from "./parts.js";

/**
 * @param {string[]} tags
 * @param {string} typed what stands in the field of a new tag; a tag that is there by now leaves it
 * @param {(tags: string[]) => void} change gets the new tags
 * @returns {HTMLElement}
 */
export function tagEditor(tags, typed, change) {
  const input = h("input", {type: "text", id: "new-tag", placeholder: "Add a tag", autocomplete: "off", maxlength: 100,
    value: tags.includes(typed.trim()) ? "" : typed});
  const add = (event) => {
    event.preventDefault();
    const tag = input.value.trim();
    if (tag && !tags.includes(tag)) {
      change([...tags, tag]);
    }
  };
  return h("section", {class: "card"}, h("h2", {}, "Tags"),
    h("ul", {class: "chips"}, tags.map((tag) => h("li", {class: "chip"},
      h("a", {href: address("/", {tag})}, tag),
      h("button", {type: "button", class: "chip-x", "aria-label": `Take away the tag ${tag}`,
        onclick: () => change(tags.filter((one) => one !== tag))}, "✕")))),
    h("form", {class: "tag-form", onsubmit: add}, h("label", {class: "hidden", for: "new-tag"}, "Add a tag"), input,
      button("Add", null, {type: "submit"})));
}
