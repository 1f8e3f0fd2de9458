// settings.js - the settings that hold, as a tree.
import {api} from "../../api.js";
import {h} from "../../dom.js";
import {section} from "./sections.js";

/** The section of settings: one can be switched, the others are for the command line. */
export function settings(page, {settings: values, warnings, root}) {
  return section("Settings", {wide: true, hint: `Settings of ${root}, defaults included.`},
    warnings.length > 0 && h("ul", {class: "health-list"}, warnings.map((text) =>
      h("li", null, h("span", {class: "chip chip-warn"}, "Warning"), ` ${text}`))),
    briefings(page, values.memory_config.context.inject),
    h("div", {class: "health-settings"}, branch(values, 0)));
}

function briefings(page, isOn) {
  const box = h("input", {type: "checkbox", role: "switch", id: "inject", checked: isOn, onchange: async () => {
    box.disabled = true;
    try {
      await api.patch("/memory/settings", {key: "context.inject", value: box.checked});
      page.app.announce(box.checked ? "Hooks print briefings" : "Hooks print no briefings");
    } catch (error) {
      page.app.toast(error.message, {tone: "danger"});
    }
    await page.loadSettings();
    document.getElementById("inject")?.focus();
  }});
  return h("p", {class: "check"}, box, h("label", {for: "inject"}, "Hooks print briefings ",
    h("span", {class: "muted small"}, "When off, hooks only record. The next hook uses it.")));
}

function branch(value, depth) {
  return h("ul", null, Object.entries(value).map(([name, part]) => h("li", null, leaf(name, part, depth))));
}

function leaf(name, value, depth) {
  const isTree = value !== null && typeof value === "object" && Object.keys(value).length > 0;
  const isList = Array.isArray(value) && value.every((one) => one === null || typeof one !== "object");
  if (!isTree || isList) {
    return [h("span", {class: "health-name"}, name), " ", h("code", null, text(value))];
  }
  return h("details", {open: depth < 1}, h("summary", null, h("span", {class: "health-name"}, name), " ",
    h("span", {class: "muted small"}, Object.keys(value).length)), branch(value, depth + 1));
}

function text(value) {
  return Array.isArray(value) ? value.map((one) => JSON.stringify(one)).join(", ") || "[]"
    : JSON.stringify(value);
}
