// Translations, a row each: every word with its probability, changed ones marked.

// Give the handle of each slider beside this view the name that is written before it. ipywidgets writes it, but for the eye alone.
function nameSliders(el) {
  const name = () => {
    for (const slider of el.closest(".rp-widget")?.querySelectorAll(".widget-slider") ?? []) {
      const label = slider.querySelector(".widget-label")?.textContent;
      slider.querySelectorAll("[role=slider]").forEach((handle) => label && handle.setAttribute("aria-label", label));
    }
  };
  const later = new MutationObserver(name); // a slider may come after this view
  const placed = new ResizeObserver(() => {
    const widget = el.closest(".rp-widget");
    if (widget) later.observe(widget, { childList: true, subtree: true });
    name();
  });
  placed.observe(el);
  return () => {
    later.disconnect();
    placed.disconnect();
  };
}

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
        add(word, "span", "rp-number", probability.toFixed(2));
      }
      if (!words.length) add(line, "span", "rp-hint", "(no words)");
    }
  }

  model.on("change:rows", draw);
  draw();
  const ends = [nameSliders(el), hideStandIn(el)];
  return () => ends.forEach((end) => end());
}

export default { render };
