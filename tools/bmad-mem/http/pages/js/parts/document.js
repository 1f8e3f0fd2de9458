// document.js - the document of an artifact, in a panel.
import {h, put} from "../dom.js";
import {api, path} from "../api.js";
import {markdown} from "./markdown.js";
import {problem, skeleton} from "./parts.js";

/**
 * Opens a panel with the text that an artifact stands for.
 * @param {Object} app the shell
 * @param {Object} entry an artifact
 */
export async function openDocument(app, entry) {
  const title = entry.fields?.title || entry.headline || entry.id;
  const body = h("div", {class: "markdown"}, skeleton(6));
  app.dialog({title, body, wide: true});
  try {
    const blocks = markdown(await api.text(path("memory", "sessions", entry.session_id, "artifacts", entry.id)));
    const isTitle = blocks[0]?.matches("h3") && blocks[0].textContent.trim() === title.trim();
    put(body, isTitle ? blocks.slice(1) : blocks);
  } catch (error) {
    put(body, error.status === 404
      ? h("p", {}, "The memory does not contain the document of this artifact. It points to ",
        h("code", {}, entry.fields?.path ?? "a file"), ".")
      : problem(error));
  }
}
