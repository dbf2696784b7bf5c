// A row of tabs; arrow keys go to the neighbour (the pattern of WAI-ARIA for tabs).

import { add } from "./dom.js";
import { VIEWS } from "./views.js";

const MOVES = { ArrowLeft: -1, ArrowRight: 1 };

export class Tabs {
  /** `names` of the views; `open(name)` is called for the chosen one. One view needs no tabs. */
  constructor(root, names, open) {
    this.names = names;
    this.buttons = new Map();
    if (names.length < 2) return;
    const row = add(root, "div", "rp-tabs", "", { role: "tablist", "aria-label": "views" });
    for (const name of names) {
      const attributes = { type: "button", role: "tab", id: `rp-tab-${name}` };
      const button = add(row, "button", "rp-tab", VIEWS[name].title, attributes);
      button.addEventListener("click", () => open(name));
      button.addEventListener("keydown", (event) => this.move(event, name));
      this.buttons.set(name, button);
    }
  }

  move(event, name) {
    if (!(event.key in MOVES)) return;
    event.preventDefault();
    const { length } = this.names;
    const place = (this.names.indexOf(name) + MOVES[event.key] + length) % length;
    const next = this.buttons.get(this.names[place]);
    next.click();
    next.focus();
  }

  addPanel(root, name) {
    const isTab = this.buttons.has(name);
    const roles = isTab ? { role: "tabpanel", "aria-labelledby": `rp-tab-${name}` } : {};
    const panel = add(root, "section", "rp-panel", "", { ...roles, id: `rp-panel-${name}` });
    this.buttons.get(name)?.setAttribute("aria-controls", panel.id);
    add(panel, "p", "rp-lead", VIEWS[name].hint);
    return panel;
  }

  show(name) {
    for (const [other, button] of this.buttons) {
      button.setAttribute("aria-selected", other === name);
      button.tabIndex = other === name ? 0 : -1;
    }
  }
}
