// A table of claims: a heading sorts it; a verdict filters it, and so do typed words.

import { add } from "./dom.js";
import { fitHeight, followTheme, removeStandIn } from "./host.js";

class ClaimsTable {
  /**
   * `columns`: names of the texts of a claim. `long`: those that may break into lines.
   * `order`: the verdicts as they are sorted.
   */
  constructor(root, { claims, columns, long, order }) {
    Object.assign(this, { claims, columns, long, order });
    this.sorted = { column: "verdict", down: true };
    this.verdicts = new Set(); // those that are shown; none: all
    this.addFilters(root);
    const about = { role: "region", tabindex: 0, "aria-label": "claims" };
    const table = add(add(root, "div", "rp-wide-table", "", about), "table", "rp-claims");
    this.headings = this.addHeadings(table);
    this.body = add(table, "tbody");
    this.count = add(root, "p", "rp-caption", "", { role: "status" });
    this.draw();
  }

  addFilters(root) {
    const about = { role: "group", "aria-label": "filter claims by verdict" };
    const row = add(root, "div", "rp-buttons", "", about);
    const found = new Set(this.claims.map(({ verdict }) => verdict));
    for (const verdict of [...found].sort((a, b) => this.placeOf(a) - this.placeOf(b))) {
      const number = this.claims.filter((claim) => claim.verdict === verdict).length;
      const button = add(row, "button", "rp-button", `${verdict} ${number}`, { type: "button" });
      button.dataset.verdict = verdict;
      button.setAttribute("aria-pressed", false);
      button.addEventListener("click", () => {
        if (!this.verdicts.delete(verdict)) this.verdicts.add(verdict);
        button.setAttribute("aria-pressed", this.verdicts.has(verdict));
        this.draw();
      });
    }
    const field = { type: "search", "aria-label": "filter claims by words" };
    this.search = add(row, "input", "rp-field", "", { ...field, placeholder: "words" });
    this.search.addEventListener("input", () => this.draw());
  }

  addHeadings(table) {
    const row = add(add(table, "thead"), "tr");
    return this.columns.map((column) => {
      const heading = add(row, "th", "", "", { scope: "col" });
      const button = add(heading, "button", "rp-sort", column, { type: "button" });
      button.addEventListener("click", () => {
        this.sorted = { column, down: this.sorted.column !== column || !this.sorted.down };
        this.draw();
      });
      return heading;
    });
  }

  placeOf(verdict) {
    const place = this.order.indexOf(verdict);
    return place < 0 ? this.order.length : place;
  }

  /** Return what a claim is sorted by. */
  rankOf(claim) {
    const { column } = this.sorted;
    return column === "verdict" ? String(this.placeOf(claim.verdict)) : claim[column];
  }

  get shown() {
    const words = this.search.value.toLowerCase().split(" ").filter(Boolean);
    const isWanted = (claim) => {
      const text = this.columns.map((column) => claim[column]).join(" ").toLowerCase();
      const isOfThese = !this.verdicts.size || this.verdicts.has(claim.verdict);
      return isOfThese && words.every((word) => text.includes(word));
    };
    const direction = this.sorted.down ? 1 : -1;
    const compare = (a, b) => a.localeCompare(b, "en", { numeric: true });
    const rows = this.claims.filter(isWanted);
    return rows.sort((a, b) => direction * compare(this.rankOf(a), this.rankOf(b)));
  }

  draw() {
    this.columns.forEach((column, place) => {
      const isSorted = column === this.sorted.column;
      const direction = this.sorted.down ? "ascending" : "descending";
      this.headings[place].setAttribute("aria-sort", isSorted ? direction : "none");
    });
    const { shown } = this;
    this.body.replaceChildren();
    for (const claim of shown) {
      const row = add(this.body, "tr");
      for (const column of this.columns) {
        const cell = add(row, "td", this.long.includes(column) ? "rp-long" : "");
        const { verdict } = claim;
        if (column === "verdict") add(cell, "span", "", verdict).dataset.verdict = verdict;
        else addLines(cell, claim[column].split("\n"));
      }
    }
    this.count.textContent = `${shown.length} of ${this.claims.length} claims`;
  }
}

/** Show the first line; it opens to the others. */
function addLines(cell, [first, ...others]) {
  if (!others.length) cell.textContent = first;
  else {
    const details = add(cell, "details");
    add(details, "summary", "", first);
    for (const line of others) add(details, "div", "", line);
  }
}

export function start(root, data) {
  followTheme((name) => (document.documentElement.dataset.theme = name));
  new ClaimsTable(root, data);
  removeStandIn();
  fitHeight();
}
