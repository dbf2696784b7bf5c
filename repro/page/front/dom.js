// Build parts of a page. Text gets there through textContent alone: no word is ever read as markup.

export function make(tag, className = "", text = "", attributes = {}) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

export function add(parent, ...rest) {
  return parent.appendChild(make(...rest));
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, text = "") {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text) node.textContent = text;
  return node;
}
