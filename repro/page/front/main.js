// The page: a sentence, its translation, all heads, and where the head in focus looks.

import { headName, headOf, keyOf } from "../engine/heads.js";
import { add } from "./dom.js";
import { EngineClient } from "./engine_client.js";
import { HeadsView } from "./heads_view.js";
import { LinesView, sidesOf } from "./lines_view.js";
import { copyPicture, pictureOf } from "./picture.js";
import { History, checked, linkOf, readLink, toggled } from "./state.js";
import { TranslationView } from "./translation_view.js";

const TYPING_PAUSE = 200; // milliseconds without a key, before a sentence is read
const NOTHING = []; // no words yet
const LINK_PAUSE = 250; // milliseconds

/** Show the first view in `root`. `models`: [{ name, title, examples, text() }]; `script`: the worker's. */
export function start(root, { models, script }) {
  if (typeof DecompressionStream === "undefined" || typeof Worker === "undefined") {
    add(root, "p", "rp-notice", "This browser cannot unpack the model. Use a current one.", { role: "alert" });
    return null;
  }
  return new Page(root, models, script);
}

class Page {
  constructor(root, models, script) {
    this.models = models;
    this.heads = new Map(); // name of a model -> its heads, once it is loaded
    this.asked = new Set(); // models that are loaded, or will be
    this.found = {}; // what the engine last said of the present state
    this.forget();
    this.build(root);
    this.client = new EngineClient(script, this.hearing());
    this.history = new History(this.firstState());
    window.addEventListener("hashchange", () => this.followLink());
    this.update();
  }

  firstState() {
    const [{ name, examples }] = this.models;
    const usual = { model: name, sentence: examples[0], off: [], focus: null };
    if (!location.hash) return usual;
    try {
      return this.stateOfLink();
    } catch (error) {
      this.say(`${error.message} This is the usual start.`);
      return usual;
    }
  }

  stateOfLink() {
    return readLink(location.hash.slice(1), this.models.map(({ name }) => name));
  }

  // What is on the page.

  build(root) {
    this.root = root;
    const top = add(root, "div", "rp-top");
    this.buildSentence(top);
    this.translation = new TranslationView(root);
    this.status = add(root, "p", "rp-status", "", { role: "status" });
    this.headsView = new HeadsView(root, {
      toggle: (key) => this.go(toggled(this.state, key)),
      look: (key) => this.look(key),
    });
    this.buildButtons(root);
    this.caption = add(root, "p", "rp-caption");
    this.lines = new LinesView(root);
  }

  buildSentence(top) {
    if (this.models.length > 1) {
      this.choice = add(top, "select", "rp-choice", "", { "aria-label": "model" });
      for (const { name, title } of this.models) add(this.choice, "option", "", title, { value: name });
      this.choice.addEventListener("change", () => this.changeModel(this.choice.value));
    }
    this.field = add(top, "input", "rp-field", "", { type: "text", "aria-label": "sentence to translate", autocomplete: "off", spellcheck: "false", enterkeyhint: "go" });
    this.field.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.changeSentence(this.field.value, "typing"), TYPING_PAUSE);
    });
    this.button(top, "another sentence", () => this.nextExample());
  }

  buildButtons(root) {
    const row = add(root, "div", "rp-buttons");
    this.worst = this.button(row, "switch off the most needed head", () => this.switchOffMostNeeded());
    this.worst.classList.add("rp-main");
    this.undo = this.button(row, "undo", () => this.step("undo"));
    this.redo = this.button(row, "redo", () => this.step("redo"));
    this.allOn = this.button(row, "all heads on", () => this.go({ ...this.state, off: [] }));
    this.button(row, "copy link", () => this.copyLink());
    this.button(row, "copy picture", () => this.copyView());
  }

  button(parent, text, action) {
    const node = add(parent, "button", "rp-button", text, { type: "button" });
    node.addEventListener("click", action);
    return node;
  }

  // Steps.

  get state() {
    return this.history.now;
  }

  get model() {
    return this.models.find(({ name }) => name === this.state.model);
  }

  go(state, kind) {
    this.message = null;
    this.history.go(state, kind);
    this.update();
  }

  step(direction) {
    this.message = null;
    this.history[direction]();
    this.update();
  }

  changeSentence(sentence, kind) {
    this.go({ ...this.state, sentence }, kind);
  }

  changeModel(model) {
    const { examples } = this.models.find(({ name }) => name === model);
    const sentence = this.model.examples.includes(this.state.sentence) ? examples[0] : this.state.sentence;
    this.go({ model, sentence, off: [], focus: null });
  }

  nextExample() {
    const { examples } = this.model;
    this.changeSentence(examples[(examples.indexOf(this.state.sentence) + 1) % examples.length]);
  }

  switchOffMostNeeded() {
    const key = this.mostNeeded();
    if (key) this.go(toggled(this.state, key));
  }

  /** Return the key of the head that is on and that the sentence needs most; null if none is left. */
  mostNeeded() {
    let best = null;
    for (const [key, nats] of this.losses) {
      if (!this.state.off.includes(key) && (best === null || nats > this.losses.get(best))) best = key;
    }
    return best;
  }

  look(key) {
    this.history.look(key);
    this.writeLink();
    this.draw();
  }

  followLink() {
    if (location.hash.slice(1) === linkOf(this.state)) return;
    try {
      this.go(this.stateOfLink());
    } catch (error) {
      this.say(error.message);
    }
  }

  // Questions to the engine.

  /** Forget what was measured of another sentence or model. */
  forget() {
    this.losses = new Map();
    this.whole = null;
    this.isMeasured = false;
  }

  update() {
    const { model, sentence } = this.state;
    if (this.field.value !== sentence) this.field.value = sentence;
    if (this.choice) this.choice.value = model;
    this.writeLink();
    this.load();
    if (!this.heads.has(model)) return;
    this.useHeads();
    const subject = `${model}\n${sentence}`;
    if (this.subject !== subject) this.forget();
    this.subject = subject;
    this.ask();
    this.draw();
  }

  load() {
    const { name, text } = this.model;
    if (this.asked.has(name)) return;
    this.asked.add(name);
    this.busy(`unpacking the model ${this.model.title} …`);
    this.client.load(name, text());
  }

  /** Lay out the heads of the model, and drop from the state what it does not have. */
  useHeads() {
    const heads = this.heads.get(this.state.model);
    if (this.laidOut !== heads) this.headsView.layOut(heads);
    this.laidOut = heads;
    const { state, isWhole } = checked(this.state, heads);
    if (isWhole) return;
    this.history.go(state);
    this.writeLink();
    this.say("The link names heads that this model does not have; they are left out.");
  }

  ask() {
    const { model: name, sentence, off } = this.state;
    const changes = off.map((key) => ({ ...headOf(key), factor: 0 }));
    this.client.ask("state", { kind: "translate", name, sentence, changes, attention: true });
    if (off.length && !this.whole) this.client.ask("whole", { kind: "translate", name, sentence, changes: [] });
    this.measure();
  }

  measure() {
    if (this.isMeasured) return;
    const { model: name, sentence } = this.state;
    this.client.ask("losses", { kind: "losses", name, sentence, known: [...this.losses.keys()] });
  }

  hearing() {
    return {
      loaded: ({ name, heads, target }) => {
        this.heads.set(name, heads);
        this.language = target;
        if (name === this.state.model) this.update();
      },
      translation: (answer) => {
        if (!this.state.off.length || answer.ticket.startsWith("whole")) this.whole = answer.words;
        if (answer.ticket.startsWith("state")) {
          this.found = { ...this.found, ...answer };
          this.notice(answer);
        }
        this.draw();
      },
      attention: (answer) => {
        this.found = { ...this.found, attention: answer };
        this.draw();
      },
      loss: ({ key, nats }) => {
        this.losses.set(key, nats);
        this.draw();
      },
      losses: () => {
        this.isMeasured = true;
        this.draw();
      },
      refused: ({ message }) => {
        this.isMeasured = true;
        this.refusal = message;
        this.draw();
      },
    };
  }

  // What is said.

  /** Note what is strange about a sentence. */
  notice({ unknown, strange, cut }) {
    this.refusal = null;
    const notes = [];
    if (unknown.length) notes.push(`never seen by this model: ${unknown.slice(0, 10).join(" ")}`);
    for (const { word, pieces } of strange.slice(0, 2)) {
      notes.push(`“${word}” is not one of its usual words; it reads ${pieces.join(" + ")}`);
    }
    if (cut) notes.push("the translation did not end by itself");
    this.notes = notes.join(" · ");
  }

  say(message) {
    this.message = message;
    this.draw();
  }

  busy(message) {
    this.status.textContent = message;
    this.status.setAttribute("aria-busy", "true");
  }

  /** Keep the state in the address; a little later, since browsers allow it only so often. */
  writeLink() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => {
      try {
        history.replaceState(null, "", `#${linkOf(this.state)}`);
      } catch {
        // A page inside another one may not: the link is still copied by its button.
      }
    }, LINK_PAUSE);
  }

  async copyLink() {
    const link = `${location.href.split("#")[0]}#${linkOf(this.state)}`;
    try {
      await navigator.clipboard.writeText(link);
      this.say("The link is copied.");
    } catch {
      location.hash = linkOf(this.state);
      this.say("The link is in the address bar.");
    }
  }

  async copyView() {
    const style = getComputedStyle(this.status);
    const names = ["ink", "soft", "paper", "square", "need", "line"];
    const colors = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    const { state, losses, whole } = this;
    const isBroken = state.off.length > 0;
    const view = { ...this.linesOfFocus(), caption: this.caption.textContent, colors, losses, off: state.off };
    const picture = pictureOf({ ...view, sentence: state.sentence, words: this.found.words ?? [], whole: isBroken ? whole : null, heads: this.laidOut ?? [] });
    this.say(await copyPicture(picture));
  }

  // Drawing.

  /** The head that is looked at: the chosen one, else the one that is needed most. */
  focus() {
    return this.state.focus ?? this.mostNeeded() ?? (this.laidOut?.length ? keyOf(this.laidOut.at(-1)) : null);
  }

  linesOfFocus() {
    const { attention } = this.found;
    const key = this.focus();
    if (!attention || !key) return { rows: null, sides: { above: [], below: [] } };
    const { site, layer, head } = headOf(key);
    const sides = sidesOf(site, attention);
    return { sides, rows: attention.weights[site][layer]?.[head]?.slice(0, sides.below.length) ?? null };
  }

  draw() {
    if (!this.history) return;
    const focus = this.focus();
    this.translation.draw(this.found.words ?? NOTHING, this.state.off.length ? this.whole : null, this.language ?? "");
    this.headsView.draw({ off: this.state.off, focus }, this.losses);
    this.undo.disabled = !this.history.canUndo;
    this.redo.disabled = !this.history.canRedo;
    this.allOn.disabled = !this.state.off.length;
    this.worst.disabled = !this.isMeasured || !this.mostNeeded();
    this.drawStatus();
    this.drawFocus(focus);
  }

  drawStatus() {
    const total = this.laidOut?.filter(({ factor }) => factor).length ?? 0;
    const isBusy = Boolean(this.laidOut) && !this.isMeasured;
    this.status.setAttribute("aria-busy", isBusy);
    this.status.classList.toggle("rp-refused", Boolean(this.refusal));
    const progress = isBusy ? `measuring what the sentence needs: ${this.losses.size} of ${total} heads` : "";
    const off = this.state.off.length ? `${this.state.off.length} of ${total} heads off` : "";
    const said = this.refusal ?? [this.message, this.notes, off, progress].filter(Boolean).join(" · ");
    if (this.laidOut || this.refusal) this.status.textContent = said || "all heads are on";
    this.root.classList.toggle("rp-stale", Boolean(this.refusal)); // what is drawn is of before
  }

  drawFocus(key) {
    const { rows, sides } = this.linesOfFocus();
    if (!rows) return;
    const nats = this.losses.get(key);
    const isOff = this.state.off.includes(key);
    const needed = nats === undefined ? "" : `: ${costOf(nats)}`;
    this.caption.textContent = `${headName(headOf(key))}${isOff ? " (off)" : ""}${needed} Below, the words as each ${sides.asks}; above, where the head looks.`;
    if (this.drawn === rows) return;
    this.drawn = rows;
    this.lines.draw(rows, sides);
  }
}

/** Return in words what a loss of log-probability means. */
function costOf(nats) {
  if (nats < 0.05) return "this sentence does without it.";
  const factor = Math.exp(nats);
  const times = factor < 10 ? factor.toFixed(1) : Math.round(factor).toLocaleString("en");
  return `without it alone, this translation is ${times} times less likely (${nats.toFixed(1)} nats).`;
}
