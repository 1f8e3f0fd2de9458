// dom.js - makes elements.
//
// What is stored is hostile: it reaches the page as text nodes and attribute values only, never as
// markup. So nothing here, nor in any page, sets innerHTML.

const kSvg = "http://www.w3.org/2000/svg";

/**
 * Makes an HTML element.
 * @param {string} tag
 * @param {Object} [props] `class`; `dataset` (an object); `vars` (custom properties of CSS);
 *   `onclick` and other listeners as functions; `true` gives an empty attribute, null and false
 *   none; anything else is an attribute of that name.
 * @param {...*} children Nodes, strings, numbers, arrays of them; null, undefined, false are skipped.
 * @returns {HTMLElement}
 */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/**
 * Makes an SVG element; else as h().
 * @returns {SVGElement}
 */
export function svg(tag, props, ...children) {
  return fill(document.createElementNS(kSvg, tag), props, children);
}

/**
 * Takes all children out of `node`.
 * @returns {Node} `node`
 */
export function clear(node) {
  node.replaceChildren();
  return node;
}

/**
 * Puts `children` (as of h()) in place of those of `node`.
 * @returns {Node} `node`
 */
export function put(node, ...children) {
  clear(node);
  append(node, children);
  return node;
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    setProp(element, name, value);
  }
  append(element, children);
  return element;
}

function setProp(element, name, value) {
  if (value === null || value === undefined || value === false) {
    return;
  }
  if (name === "dataset") {
    Object.assign(element.dataset, value);
  } else if (name === "vars") {
    // The content security policy forbids style attributes; this it allows.
    for (const [property, text] of Object.entries(value)) {
      element.style.setProperty(property, text);
    }
  } else if (typeof value === "function" && name.startsWith("on")) {
    element.addEventListener(name.slice(2), value);
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) {
      node.append(child instanceof Node ? child : String(child));
    }
  }
}
