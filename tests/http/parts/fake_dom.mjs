// fake_dom.mjs - as much of a document as the parts of the pages need to be tested without a browser.
import {cpSync, mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";

const kPages = fileURLToPath(new URL("../../../tools/bmad-mem/http/pages", import.meta.url));

globalThis.Node = class Node {
  constructor(tag, text = "") {
    Object.assign(this, {tag, text, attributes: {}, children: [], dataset: {}, style: {setProperty() {}}});
  }
  append(...nodes) {
    this.children.push(...nodes.map((one) => (one instanceof Node ? one : new Node("#text", one))));
  }
  replaceChildren() {
    this.children = [];
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  addEventListener() {}
  get textContent() {
    return this.tag === "#text" ? this.text : this.children.map((one) => one.textContent).join("");
  }
};
globalThis.addEventListener = () => {};
globalThis.document = {
  createElement: (tag) => new Node(tag),
  createElementNS: (_, tag) => new Node(tag),
  addEventListener() {},
};

/** What a node looks like: <p>text <code>x</code></p>, with the texts as they are. */
export function outline(node) {
  if (node.tag === "#text") {
    return node.text;
  }
  const attributes = Object.entries(node.attributes).map(([name, value]) => ` ${name}=${value}`).join("");
  return `<${node.tag}${attributes}>${node.children.map(outline).join("")}</${node.tag}>`;
}

/** Loads modules of the pages by their path below js/. Node wants to be told that they are modules. */
export async function load(...names) {
  const folder = mkdtempSync(join(tmpdir(), "bmad-mem-pages-"));
  process.on("exit", () => rmSync(folder, {recursive: true, force: true}));
  cpSync(join(kPages, "js"), join(folder, "js"), {recursive: true});
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  const modules = await Promise.all(names.map((name) => import(pathToFileURL(join(folder, "js", name)))));
  return Object.assign({}, ...modules);
}
