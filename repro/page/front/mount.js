// The views of the page, in any element of any page: a notebook, a slide, a static site.
//
//   const { mount } = modules["front/mount.js"]; // of the script that repro/page/bundle.py writes
//   const app = mount(element, { models, engine, style });
//   app.setTheme("dark"); app.unmount(); // and whatever else the methods of app.js say
//
// Everything is drawn inside a shadow root: no style of the host gets in, and none gets out.

import { App } from "./app.js";
import { add } from "./dom.js";

const TOO_OLD = "This browser cannot unpack the model. Use a current one.";

/**
 * Show models in an element; return the app, or null in a browser that is too old.
 *
 * Options, made in Python by the functions of `repro/page/page.py`:
 *
 *   models       [{ name, title, kind, corpus, source, target, learned, endMark, facts, text,
 *                examples: [{ source, reference }] }]; `learned`: the kind of text in words;
 *                `endMark`: whether a source sentence ends with a mark; `text()` returns the
 *                model's file, deflated and in base64, or promises it
 *   engine       the text of the worker's script
 *   style        the text of views.css
 *   views        names of tabs, the first one open; by default all that have something to show
 *   start        a part of the first state, such as { view, sentence, off }; see state.js
 *   claims       the forest plots of the papers; `pruned`: the stored pruned models
 *   theme        "light" or "dark"
 *   keepsAddress whether the address of the page holds the state; only for a page of our own
 */
export function mount(element, { style, theme = "light", ...options }) {
  const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
  root.replaceChildren();
  add(root, "style", "", style);
  element.dataset.theme = theme;
  const body = add(root, "div", "rp-app");
  if (typeof DecompressionStream === "undefined" || typeof Worker === "undefined") {
    add(body, "p", "rp-notice", TOO_OLD, { role: "alert" });
    return null;
  }
  return new App(element, body, options);
}
