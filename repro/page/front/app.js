// The app: what a visitor has chosen, the engine, and the tabs that show both.

import { Address } from "./address.js";
import { ActionBar, SentenceControls } from "./controls.js";
import { add } from "./dom.js";
import { EngineClient } from "./engine_client.js";
import { Reading, openHeads } from "./reading.js";
import { aboutOf, statusOf } from "./sentences.js";
import { History, START, checked, linkOf, readLink, toggled } from "./state.js";
import { Tabs } from "./tabs.js";
import { TranslationView } from "./translation_view.js";
import { VIEWS } from "./views.js";

const NOTHING = []; // no words yet

export class App {
  /** `host` holds the shadow root, `root` is in it; for `options` see mount.js. */
  constructor(host, root, options) {
    Object.assign(this, { host, root, options, models: options.models });
    this.heads = new Map(); // name of a model -> its heads, once it is loaded
    this.asked = new Set(); // models that are loaded, or will be
    this.broken = new Map(); // name of a model -> what is wrong with its file
    this.languages = new Map(); // name of a model -> what it translates into
    this.names = (options.views ?? Object.keys(VIEWS)).filter((name) => VIEWS[name].fits(options));
    this.address = new Address(options.keepsAddress);
    this.client = new EngineClient(options.engine, (message) => this.reading.refuse({ message }));
    this.reading = new Reading(this.client, () => this.draw());
    this.history = new History(this.firstState());
    this.build();
    this.onLink = () => this.followLink();
    if (options.keepsAddress) window.addEventListener("hashchange", this.onLink);
    this.update();
  }

  /** The state of the link that the page was opened with; the usual one without such a link. */
  firstState() {
    const [{ name, examples }] = this.models;
    try {
      if (this.options.keepsAddress && location.hash) return this.stateOfLink();
    } catch (error) {
      this.message = `${error.message} This is the usual start.`;
    }
    return { ...START, model: name, sentence: examples[0].source, ...this.options.start };
  }

  stateOfLink() {
    return readLink(
      location.hash.slice(1),
      this.models.map(({ name }) => name),
    );
  }

  build() {
    this.tabs = new Tabs(this.root, this.names, (view) => this.look({ view }));
    this.controls = new SentenceControls(this.root, this.models, {
      model: (name) => this.changeModel(name),
      sentence: (text) => this.go({ ...this.state, sentence: text }, "typing"),
      another: () => this.nextExample(),
    });
    this.translation = new TranslationView(this.root);
    this.status = add(this.root, "p", "rp-status", "", { role: "status" });
    this.bar = new ActionBar(this.root, {
      worst: () => this.go(toggled(this.state, this.mostNeeded())),
      undo: () => this.step("undo"),
      redo: () => this.step("redo"),
      allOn: () => this.go({ ...this.state, off: [], patterns: {} }),
      link: async () => this.say(await this.address.copy(linkOf(this.state))),
      picture: async () => this.say(await this.view.copyPicture()),
    });
    this.panels = add(this.root, "div", "rp-panels");
    this.views = new Map(); // name -> { panel, view }, once it has been opened
  }

  // What is shown.

  get state() {
    return this.history.now;
  }

  get model() {
    return this.models.find(({ name }) => name === this.state.model);
  }

  get viewName() {
    const { view } = this.state;
    return this.names.includes(view) ? view : this.names[0];
  }

  get view() {
    return this.views.get(this.viewName).view;
  }

  /** Return the heads of the model; none before it is loaded. */
  get modelHeads() {
    return this.heads.get(this.state.model) ?? NOTHING;
  }

  /** Why nothing can be shown of the present state; null if it can. */
  get refusal() {
    return this.broken.get(this.state.model) ?? this.reading.refusal;
  }

  /** What a visitor waits for before the first translation. */
  get waitedFor() {
    return this.heads.has(this.state.model) ? "translating …" : "loading the model …";
  }

  get language() {
    return this.languages.get(this.state.model) ?? "";
  }

  mostNeeded() {
    return this.reading.byNeed(this.state.off).at(-1);
  }

  // Steps.

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

  /** Look elsewhere: at another tab, head, step or paper. */
  look(part) {
    const before = this.viewName;
    this.history.look(part);
    this.address.keep(linkOf(this.state));
    if (this.viewName !== before) this.update();
    else if (this.views.has(before)) this.view.looked?.();
    this.draw();
  }

  changeModel(model) {
    const { examples } = this.models.find(({ name }) => name === model);
    const isKnown = this.model.examples.some(({ source }) => source === this.state.sentence);
    const sentence =
      isKnown && !this.hasExample(examples) ? examples[0].source : this.state.sentence;
    this.go({ ...this.state, model, sentence, off: [], patterns: {}, focus: null, time: 0 });
  }

  hasExample(examples) {
    return examples.some(({ source }) => source === this.state.sentence);
  }

  nextExample() {
    const { examples } = this.model;
    const place = examples.findIndex(({ source }) => source === this.state.sentence);
    const { source } = examples[(place + 1) % examples.length];
    this.go({ ...this.state, sentence: source, time: 0 });
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

  update() {
    this.open();
    this.controls.show(this.state.model, this.state.sentence);
    this.address.keep(linkOf(this.state));
    this.load(this.model);
    if (this.heads.has(this.state.model)) {
      this.useHeads();
      if (VIEWS[this.viewName].reads) this.reading.read(this.state);
      this.view.update?.();
    }
    this.draw();
  }

  /** Open the panel of the tab, and close the others. */
  open() {
    const name = this.viewName;
    if (!this.views.has(name)) {
      const panel = this.tabs.addPanel(this.panels, name);
      this.views.set(name, { panel, view: new VIEWS[name](panel, this) });
    }
    this.tabs.show(name);
    for (const [other, { panel }] of this.views) panel.hidden = other !== name;
    const { reads = false, asks = reads } = VIEWS[name];
    this.root.classList.toggle("rp-quiet", !reads);
    this.controls.root.hidden = !asks;
    for (const part of [this.translation.root, this.bar.root]) part.hidden = !reads;
  }

  /** Unpack a model, once. */
  async load({ name, title, text }) {
    if (this.asked.has(name)) return;
    this.asked.add(name);
    const refused = ({ message }) => {
      this.broken.set(name, message);
      this.draw();
    };
    let packed;
    try {
      packed = await text();
    } catch {
      refused({ message: `The model ${title} could not be fetched.` });
      return;
    }
    this.client.ask(
      `load ${name}`,
      { kind: "load", name, text: packed },
      {
        loaded: ({ heads, target }) => {
          this.heads.set(name, heads);
          this.languages.set(name, target);
          this.update();
        },
        refused,
      },
    );
  }

  /** Drop from the state what the model does not have. */
  useHeads() {
    const { state, isWhole } = checked(this.state, this.modelHeads);
    if (isWhole) return;
    this.history.go(state);
    this.address.keep(linkOf(this.state));
    this.say("The link names heads that this model does not have; they are left out.");
  }

  // What is said and drawn.

  say(message) {
    this.message = message;
    this.draw();
  }

  /** Draw what is known, once before the next frame. */
  draw() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = null;
      this.drawNow();
    });
  }

  drawNow() {
    const { state, reading } = this;
    const { words } = reading.found;
    if (words) this.translation.draw(words, reading.other, this.language, aboutOf(this.model));
    else this.translation.wait(this.refusal ? "" : this.waitedFor);
    this.bar.enable({
      worst: reading.isMeasured && !this.refusal && this.mostNeeded(),
      undo: this.history.canUndo,
      redo: this.history.canRedo,
      allOn: state.off.length || Object.keys(state.patterns).length,
    });
    this.bar.offer({
      worst: this.viewName === "heads",
      link: this.options.keepsAddress,
      picture: this.view.copyPicture,
    });
    this.drawStatus();
    if (this.heads.has(state.model) || !VIEWS[this.viewName].asks) this.view.draw();
  }

  drawStatus() {
    const { reading, state } = this;
    const isLoaded = this.heads.has(state.model);
    const open = openHeads(this.modelHeads).length;
    const refusal = this.refusal;
    const isBusy = !refusal && (!isLoaded || !reading.isMeasured);
    const measured = isLoaded && isBusy ? reading.losses.size : null;
    const counts = {
      off: state.off.length,
      replaced: Object.keys(state.patterns).length,
      open,
      measured,
    };
    this.status.setAttribute("aria-busy", Boolean(isBusy && VIEWS[this.viewName].reads));
    this.status.classList.toggle("rp-refused", Boolean(refusal));
    this.root.classList.toggle("rp-stale", Boolean(refusal)); // what is drawn is of before
    const usual = isLoaded ? "all heads are on" : `unpacking the model ${this.model.title} …`;
    const said = isLoaded ? statusOf(counts, this.message, reading.found) : "";
    this.status.textContent = refusal ?? (said || usual);
  }

  /** `name`: "light" or "dark". */
  setTheme(name) {
    this.host.dataset.theme = name;
    this.draw();
  }

  unmount() {
    window.removeEventListener("hashchange", this.onLink);
    cancelAnimationFrame(this.drawing);
    this.client.stop();
    this.root.remove();
  }
}
