// What all views share. Text reaches the page through textContent only, so that no token is ever read as markup.

// A joiner has a meaning between emoji, after a virama and between Arabic letters (RFC 5892, appendix A); elsewhere it would only hide.
const JOINED = [
  /(?<=\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]?)\u200D(?=\p{Extended_Pictographic})/u,
  /(?<=[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA])[\u200C\u200D](?=.)/u,
  /(?<=[\p{Script=Arabic}\p{Script=Syriac}])[\u200C\u200D](?=[\p{Script=Arabic}\p{Script=Syriac}])/u,
];
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
const UNSEEN = new RegExp([...JOINED, HIDDEN].map((pattern) => `(${pattern.source})`).join("|"), "gu");

// Control, format and direction characters, and blanks other than the usual one, are shown as code points.
const shown = (text) =>
  text.replace(UNSEEN, (c, ...found) => (found[JOINED.length] ? `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩` : c));

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = shown(text);
  return node;
}

function add(parent, tag, className, text) {
  return parent.appendChild(make(tag, className, text));
}

// Show the model's `message`, one line about what went wrong or how long it took, and whether what is drawn is up to date.
function addNotice(model, el) {
  const line = add(el, "div", "rp-notice");
  line.setAttribute("role", "status");
  const update = () => {
    line.textContent = shown(model.get("message"));
    line.hidden = !line.textContent;
  };
  const fade = () => {
    el.dataset.state = model.get("state");
    el.setAttribute("aria-busy", model.get("state") === "busy");
  };
  model.on("change:message", update);
  model.on("change:state", fade);
  update();
  fade();
}

// Of a widget and its stand-in show the live one. A page that holds the state of its widgets has no kernel: there it is the stand-in.
// Return what ends this.
function hideStandIn(el) {
  const placed = new ResizeObserver(() => {
    const widget = el.closest(".rp-widget");
    if (!widget) return;
    placed.disconnect();
    const still = [...widget.classList].find((name) => name.startsWith("rp-of-")).replace("rp-of-", ".rp-still-");
    const isExported = document.querySelector('script[type="application/vnd.jupyter.widget-state+json"]');
    if (isExported && document.querySelector(still)) widget.style.display = "none";
    else add(el, "style", "", `${still} { display: none; }`); // also if it comes later
  });
  placed.observe(el);
  return () => placed.disconnect();
}
