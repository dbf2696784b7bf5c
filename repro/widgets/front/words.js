// Translations, a row each: every word with its probability, changed ones marked.

function render({ model, el }) {
  el.classList.add("rp");
  const table = add(el, "div", "rp-rows");
  table.setAttribute("aria-live", "polite");
  addNotice(model, el);

  function draw() {
    table.replaceChildren();
    for (const { label, words } of model.get("rows")) {
      add(table, "div", "rp-side", label);
      const line = add(table, "div", "rp-words");
      for (const { text, probability, changed } of words) {
        const word = add(line, changed ? "mark" : "span", changed ? "rp-word rp-changed" : "rp-word");
        add(word, "span", "rp-text", text);
        const bar = add(word, "span", "rp-bar");
        bar.style.setProperty("--weight", probability);
        add(word, "span", "rp-number", fixed(probability, 2));
      }
      if (!words.length) add(line, "span", "rp-hint", "(no words)");
    }
  }

  model.on("change:rows", draw);
  draw();
}

export default { render };
