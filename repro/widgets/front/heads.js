// A square for each head of each site: its factor, whether it was replaced, which one is chosen.

function render({ model, el }) {
  el.classList.add("rp");
  const panels = add(el, "div", "rp-sites");

  function update(site, layer, head) {
    model.set("chosen", [site, layer, head]);
    if (model.get("mode") === "toggle") {
      const factors = structuredClone(model.get("factors"));
      factors[site][layer][head] = factors[site][layer][head] === 0 ? 1 : 0;
      model.set("factors", factors);
    }
    model.save_changes();
  }

  function draw() {
    const focused = el.contains(document.activeElement) ? document.activeElement.dataset.head : null;
    panels.replaceChildren();
    const factors = model.get("factors");
    const chosen = `${model.get("chosen")}`;
    const marked = new Set(model.get("marked").map(String));
    const isLive = model.get("mode") !== "show";
    model.get("titles").forEach((title, site) => {
      const panel = add(panels, "div");
      panel.setAttribute("role", "group");
      panel.setAttribute("aria-label", title);
      add(panel, "div", "rp-title", title);
      factors[site].forEach((heads, layer) => {
        const row = add(panel, "div", "rp-heads");
        add(row, "span", "rp-side", `L${layer + FIRST}`);
        if (!heads.length) add(row, "span", "rp-hint", "no attention");
        heads.forEach((factor, head) => {
          const name = `${[site, layer, head]}`;
          const button = add(row, isLive ? "button" : "span", "rp-head", factor === 0 ? "×" : factor === 1 ? "" : String(Number(factor.toFixed(2))));
          button.dataset.head = name;
          button.style.setProperty("--factor", clamp(Math.abs(factor), 0, 1));
          button.classList.toggle("rp-off", factor === 0);
          button.classList.toggle("rp-marked", marked.has(name));
          button.classList.toggle("rp-chosen", isLive && name === chosen);
          const state = factor === 1 ? "" : factor === 0 ? ", off" : `, times ${factor}`;
          button.setAttribute("aria-label", `${title}, layer ${layer + FIRST}, head ${head + FIRST}${state}${marked.has(name) ? ", replaced" : ""}`);
          button.title = `layer ${layer + FIRST}, head ${head + FIRST}${state}`;
          if (!isLive) {
            button.setAttribute("role", "img");
            return;
          }
          button.tabIndex = name === chosen ? 0 : -1;
          button.addEventListener("click", () => update(site, layer, head));
          button.addEventListener("keydown", (event) => {
            if (!ARROWS[event.key]) return;
            event.preventDefault();
            move(button, ...ARROWS[event.key]);
          });
        });
      });
    });
    const again = focused && panels.querySelector(`[data-head="${focused}"]`);
    if (again) again.focus();
    if (isLive && !panels.querySelector("button[tabindex='0']")) {
      const first = panels.querySelector("button");
      if (first) first.tabIndex = 0;
    }
  }

  // Arrow keys go to the nearest square in that direction, also across sites.
  function move(button, down, right) {
    const here = button.getBoundingClientRect();
    let best = null;
    for (const other of panels.querySelectorAll("button")) {
      const there = other.getBoundingClientRect();
      const [dx, dy] = [there.left - here.left, there.top - here.top];
      const along = down ? dy * down : dx * right;
      const across = Math.abs(down ? dx : dy);
      if (along > 2 && (!best || along + 4 * across < best.cost)) best = { other, cost: along + 4 * across };
    }
    if (!best) return;
    button.tabIndex = -1;
    best.other.tabIndex = 0;
    best.other.focus();
  }

  for (const name of ["factors", "chosen", "marked", "titles", "mode"]) model.on(`change:${name}`, draw);
  draw();
}

export default { render };
