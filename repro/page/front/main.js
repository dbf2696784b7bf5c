// The page: a sentence, its translation, all heads, and where the head in focus looks.

import { headOf, keyOf } from "../engine/heads.js";
import { Address } from "./address.js";
import { HeadButtons, SentenceControls } from "./controls.js";
import { add } from "./dom.js";
import { EngineClient } from "./engine_client.js";
import { HeadsView } from "./heads_view.js";
import { LinesView, sidesOf } from "./lines_view.js";
import { copyPicture } from "./picture.js";
import { captionOf, statusOf } from "./sentences.js";
import { History, checked, linkOf, readLink, toggled } from "./state.js";
import { TranslationView } from "./translation_view.js";

const NOTHING = []; // no words yet

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
    this.address = new Address();
    this.found = {}; // what the engine last said of the present state
    this.forget();
    this.build(root);
    this.client = new EngineClient(script, this.hearing());
    this.history = new History(this.firstState());
    window.addEventListener("hashchange", () => this.followLink());
    this.update();
  }

  /** The state of the link that the page was opened with; the usual one without such a link. */
  firstState() {
    const [{ name, examples }] = this.models;
    try {
      if (location.hash) return this.stateOfLink();
    } catch (error) {
      this.message = `${error.message} This is the usual start.`;
    }
    return { model: name, sentence: examples[0], off: [], focus: null };
  }

  stateOfLink() {
    return readLink(location.hash.slice(1), this.models.map(({ name }) => name));
  }

  // What is on the page.

  build(root) {
    this.root = root;
    this.controls = new SentenceControls(root, this.models, {
      model: (name) => this.changeModel(name),
      sentence: (text) => this.changeSentence(text, "typing"),
      another: () => this.nextExample(),
    });
    this.translation = new TranslationView(root);
    this.status = add(root, "p", "rp-status", "", { role: "status" });
    this.headsView = new HeadsView(root, {
      toggle: (key) => this.go(toggled(this.state, key)),
      look: (key) => this.look(key),
    });
    this.buttons = new HeadButtons(root, {
      worst: () => this.switchOffMostNeeded(),
      undo: () => this.step("undo"),
      redo: () => this.step("redo"),
      allOn: () => this.go({ ...this.state, off: [] }),
      link: async () => this.say(await this.address.copy(linkOf(this.state))),
      picture: () => this.copyView(),
    });
    this.caption = add(root, "p", "rp-caption");
    this.lines = new LinesView(root);
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
    this.address.keep(linkOf(this.state));
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
    this.controls.show(model, sentence);
    this.address.keep(linkOf(this.state));
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
    this.address.keep(linkOf(this.state));
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
          this.refusal = null;
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

  say(message) {
    this.message = message;
    this.draw();
  }

  busy(message) {
    this.status.textContent = message;
    this.status.setAttribute("aria-busy", "true");
  }

  async copyView() {
    const { state, losses } = this;
    this.say(
      await copyPicture(this.status, {
        ...this.linesOfFocus(),
        caption: this.caption.textContent,
        sentence: state.sentence,
        words: this.found.words ?? NOTHING,
        whole: state.off.length ? this.whole : null,
        heads: this.laidOut ?? [],
        off: state.off,
        losses,
      }),
    );
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
    this.buttons.enable({
      worst: this.isMeasured && this.mostNeeded(),
      undo: this.history.canUndo,
      redo: this.history.canRedo,
      allOn: this.state.off.length,
    });
    this.drawStatus();
    this.drawFocus(focus);
  }

  drawStatus() {
    const open = this.laidOut?.filter(({ factor }) => factor).length ?? 0;
    const isBusy = Boolean(this.laidOut) && !this.isMeasured;
    this.status.setAttribute("aria-busy", isBusy);
    this.status.classList.toggle("rp-refused", Boolean(this.refusal));
    this.root.classList.toggle("rp-stale", Boolean(this.refusal)); // what is drawn is of before
    if (!this.laidOut && !this.refusal) return; // still unpacking, which is said already
    const counts = { off: this.state.off.length, open, measured: isBusy ? this.losses.size : null };
    this.status.textContent = this.refusal ?? (statusOf(counts, this.message, this.found) || "all heads are on");
  }

  drawFocus(key) {
    const { rows, sides } = this.linesOfFocus();
    if (!rows) return;
    this.caption.textContent = captionOf(key, this.losses.get(key), this.state.off.includes(key), sides.asks);
    if (this.drawn === rows) return;
    this.drawn = rows;
    this.lines.draw(rows, sides);
  }
}
