// Run parts of the page in Node: its worker as it is in the page, and its states and links.
//
//   node run_page.mjs state                                steps and links, asserted here
//   node run_page.mjs worker PAGE < messages.json          one line of JSON for each answer

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { History, checked, linkOf, readLink, toggled } from "../repro/page/front/state.js";

function checkStates() {
  const first = { model: "base", sentence: "a <b> & c = 100 % #x", off: [], focus: null };
  const history = new History(first);
  history.go(toggled(first, "cross.1.0"));
  history.go(toggled(history.now, "cross.0.3"));
  assert.deepEqual(history.now.off, ["cross.0.3", "cross.1.0"]);
  assert.deepEqual(readLink(linkOf(history.now), ["base"]), history.now);

  history.undo();
  assert.deepEqual(history.now.off, ["cross.1.0"]);
  history.redo();
  history.undo();
  history.undo();
  assert.deepEqual(history.now, first);
  assert.equal(history.canUndo, false);
  history.undo();
  for (const sentence of ["a", "ab", "abc"]) history.go({ ...first, sentence }, "typing");
  assert.equal(history.canRedo, false);
  history.undo();
  assert.deepEqual(history.now, first); // what was typed in one go is one step
  history.go({ ...first });
  assert.equal(history.canRedo, true); // no step at all

  assert.deepEqual(toggled(toggled(first, "cross.1.0"), "cross.1.0").off, []);
  for (const link of ["", "x", "model=base", "sentence=a", "model=other&sentence=a", "%00%ff="]) {
    assert.throws(() => readLink(link, ["base"]), /^Error: The link (holds no state|is for a model)/);
  }
  const heads = [{ site: "cross", layer: 0, head: 1 }];
  const wrong = { ...first, off: ["cross.0.1", "cross.0.2", "nonsense"], focus: "cross.7.7" };
  assert.deepEqual(checked(wrong, heads), { state: { ...first, off: ["cross.0.1"] }, isWhole: false });
  assert.equal(checked({ ...first, off: ["cross.0.1"] }, heads).isWhole, true);
}

async function runWorker(path) {
  const html = readFileSync(path, "utf8");
  const engine = html.match(/<script type="text\/plain" id="engine">([^]*?)<\/script>/)[1];
  const models = [...html.matchAll(/<script type="text\/plain" data-model="[^"]*">([^<]*)</g)];
  const scope = { postMessage: (message) => console.log(JSON.stringify(message)) };
  new Function("self", engine)(scope);
  for (const message of JSON.parse(readFileSync(0, "utf8"))) {
    const text = message.kind === "load" ? (message.text ?? models[message.number][1]) : undefined;
    scope.onmessage({ data: { ...message, text } });
  }
}

if (process.argv[2] === "state") checkStates();
else await runWorker(process.argv[3]);
