// A table of claims: a click on a heading sorts, a click on a verdict filters, and so does what is typed.

const LONG = ["statement", "evidence"]; // columns that may break into lines

function render({ model, el }) {
  el.classList.add("rp");
  const bar = add(el, "div", "rp-filters");
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "filter claims by verdict");
  const search = add(bar, "input", "rp-search");
  search.type = "search";
  search.placeholder = "words in any column";
  search.setAttribute("aria-label", "filter claims by words");
  const table = add(el, "table", "rp-claims");
  const count = add(el, "div", "rp-hint");
  count.setAttribute("role", "status");
  const placeOf = (verdict) => model.get("order").indexOf(verdict);
  let sorted = { column: "verdict", down: true };

  const rank = (claim, column) => {
    const place = column === "verdict" ? placeOf(claim[column]) : -1;
    return place >= 0 ? String(place) : claim[column];
  };

  function draw() {
    const [claims, columns, verdicts] = [model.get("claims"), model.get("columns"), model.get("verdicts")];
    bar.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", verdicts.includes(button.dataset.verdict)));
    const wanted = search.value.toLowerCase().split(" ").filter(Boolean);
    const rows = claims.filter((claim) => {
      const text = columns.map((column) => claim[column]).join(" ").toLowerCase();
      return (!verdicts.length || verdicts.includes(claim.verdict)) && wanted.every((word) => text.includes(word));
    });
    const order = sorted.down ? 1 : -1;
    rows.sort((a, b) => order * rank(a, sorted.column).localeCompare(rank(b, sorted.column), "en", { numeric: true }));
    table.replaceChildren();
    const head = add(add(table, "thead"), "tr");
    for (const column of columns) {
      const cell = add(head, "th");
      cell.scope = "col";
      cell.setAttribute("aria-sort", sorted.column !== column ? "none" : sorted.down ? "ascending" : "descending");
      const arrow = sorted.column !== column ? "" : sorted.down ? " ↓" : " ↑";
      const button = add(cell, "button", "rp-sort", column + arrow);
      button.addEventListener("click", () => {
        sorted = { column, down: sorted.column === column ? !sorted.down : true };
        draw();
        table.querySelectorAll(".rp-sort")[columns.indexOf(column)].focus();
      });
    }
    const body = add(table, "tbody");
    for (const claim of rows) {
      const line = add(body, "tr");
      for (const column of columns) {
        const cell = add(line, "td", LONG.includes(column) ? "rp-long" : "");
        if (column === "verdict") add(cell, "span", "rp-verdict", claim.verdict).dataset.verdict = claim.verdict;
        else for (const text of claim[column].split("\n")) add(cell, "div", "", text);
      }
    }
    count.textContent = `${rows.length} of ${claims.length} claims`;
  }

  function drawFilters() {
    bar.querySelectorAll("button").forEach((button) => button.remove());
    const present = [...new Set(model.get("claims").map((claim) => claim.verdict))];
    present.sort((a, b) => placeOf(a) - placeOf(b));
    for (const verdict of present) {
      const number = model.get("claims").filter((claim) => claim.verdict === verdict).length;
      const button = make("button", "rp-verdict", `${verdict} ${number}`);
      button.dataset.verdict = verdict;
      bar.insertBefore(button, search);
      button.addEventListener("click", () => {
        const verdicts = model.get("verdicts");
        model.set("verdicts", verdicts.includes(verdict) ? verdicts.filter((other) => other !== verdict) : [...verdicts, verdict]);
        model.save_changes();
      });
    }
    draw();
  }

  search.addEventListener("input", draw);
  model.on("change:claims", drawFilters);
  model.on("change:verdicts", draw);
  drawFilters();
  return hideStandIn(el);
}

export default { render };
