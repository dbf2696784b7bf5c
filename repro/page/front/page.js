// The page of some models: what `repro page` writes, and every view of it elsewhere in a notebook.

import { fitHeight, followTheme } from "./host.js";
import { mount } from "./mount.js";

/**
 * Show models in this document.
 *
 * `source`: the document that holds models, engine and style: this one, or that of another frame.
 * `start`: options of `mount` for this view alone.
 */
export function start(source, start = {}) {
  const isWithin = location.protocol === "about:"; // a frame that has no address
  const textOf = (id) => source.getElementById(id).textContent;
  const models = JSON.parse(textOf("models")).map((model) => ({
    ...model,
    text: () => packedModel(source, model.name),
  }));
  window.page = mount(document.getElementById("page"), {
    ...JSON.parse(textOf("options")),
    ...start,
    models,
    engine: textOf("engine"),
    style: textOf("style"),
    keepsAddress: !isWithin,
  });
  const header = document.querySelector("header");
  if (header) header.hidden = parent !== window; // the page around a frame has its own
  const button = document.getElementById("theme");
  const set = (name) => {
    document.documentElement.dataset.theme = name;
    window.page?.setTheme(name);
    if (!button) return;
    button.textContent = name === "dark" ? "light" : "dark";
    button.setAttribute("aria-label", `use the ${button.textContent} theme`);
  };
  button?.addEventListener("click", () => set(button.textContent));
  followTheme(set);
  fitHeight();
}

/** Return the file of a model. All but the first stand behind the script that starts the page. */
async function packedModel(source, name) {
  const scripts = source.getElementsByTagName("script"); // a live list: it grows with the document
  const find = () => [...scripts].find(({ dataset }) => dataset.model === name);
  const isWhole = find()?.nextElementSibling || source.readyState !== "loading";
  if (!isWhole)
    await new Promise((done) => source.addEventListener("DOMContentLoaded", done, { once: true }));
  return find().textContent.trim();
}
