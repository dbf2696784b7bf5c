// What all views share. Text reaches the page through textContent and canvas text only, so that no token is ever read as markup.

// Control, format and direction characters, and blanks other than the usual one, are shown as code points.
const shown = (text) =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = shown(text);
  return node;
}

function add(parent, tag, className, text) {
  return parent.appendChild(make(tag, className, text));
}

// Show the model's `message`, one line about what went wrong or how long it took.
function addNotice(model, el) {
  const line = add(el, "div", "rp-notice");
  line.setAttribute("role", "status");
  const update = () => {
    line.textContent = shown(model.get("message"));
    line.hidden = !line.textContent;
  };
  model.on("change:message", update);
  update();
}

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const fixed = (value, digits) => (value === null || Number.isNaN(value) ? "none" : value.toFixed(digits));
