// A square for each head of each site: its factor.

function render({ model, el }) {
  el.classList.add("rp");
  const panels = add(el, "div", "rp-sites");

  function draw() {
    panels.replaceChildren();
    const factors = model.get("factors");
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
          const text = factor === 0 ? "×" : factor === 1 ? "" : String(Number(factor.toFixed(2)));
          const square = add(row, "span", "rp-head", text);
          square.style.setProperty("--factor", Math.min(1, Math.abs(factor)));
          square.classList.toggle("rp-off", factor === 0);
          const state = factor === 1 ? "" : factor === 0 ? ", off" : `, times ${factor}`;
          square.setAttribute("aria-label", `${title}, layer ${layer + FIRST}, head ${head + FIRST}${state}`);
          square.title = `layer ${layer + FIRST}, head ${head + FIRST}${state}`;
          square.setAttribute("role", "img");
        });
      });
    });
  }

  for (const name of ["factors", "titles"]) model.on(`change:${name}`, draw);
  draw();
}

export default { render };
