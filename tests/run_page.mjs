// Run parts of the page in Node: its worker as it is in the page, and its states and links.
//
//   node run_page.mjs state                                steps and links, asserted here
//   node run_page.mjs worker PAGE < messages.json          one line of JSON for each answer

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { UNCHANGED, changeOf, namesFor } from "../repro/page/front/patterns.js";
import {
  History,
  START,
  checked,
  linkOf,
  readLink,
  toggled,
  withPattern,
} from "../repro/page/front/state.js";
import { saidOf, statisticsOf } from "../repro/page/front/statistics.js";
import { aligned } from "../repro/page/front/truth.js";

const FIRST = { ...START, model: "base", sentence: "a <b> & c = 100 % #x" };

function checkHistory() {
  const history = new History(FIRST);
  history.go(toggled(FIRST, "cross.1.0"));
  history.go(toggled(history.now, "cross.0.3"));
  assert.deepEqual(history.now.off, ["cross.0.3", "cross.1.0"]);

  history.undo();
  assert.deepEqual(history.now.off, ["cross.1.0"]);
  history.redo();
  history.undo();
  history.undo();
  assert.deepEqual(history.now.off, []);
  assert.equal(history.now.focus, "cross.0.3"); // where one looks is no step
  assert.equal(history.canUndo, false);
  history.undo();
  for (const sentence of ["a", "ab", "abc"]) history.go({ ...FIRST, sentence }, "typing");
  assert.equal(history.canRedo, false);
  history.undo();
  assert.equal(history.now.sentence, FIRST.sentence); // what was typed in one go is one step
  history.look({ view: "step", time: 3 });
  assert.equal(history.canRedo, true);
  history.go({ ...history.now });
  assert.equal(history.canRedo, true); // no step at all

  const patterns = { "cross.1.0": { ...UNCHANGED, name: "bell" } };
  history.go({ ...history.now, patterns }, "dragging");
  history.settle();
  history.go({ ...history.now, patterns: {} }, "dragging");
  history.undo();
  assert.deepEqual(history.now.patterns, patterns); // another drag is another step
}

function checkLinks() {
  const bell = {
    name: "bell",
    center: -1.25,
    std: 0.7,
    sums: true,
    blocked: [
      [2, 0],
      [3, 11],
    ],
  };
  let state = withPattern(toggled(FIRST, "cross.0.3"), "cross.1.0", bell);
  state = withPattern(state, "encoder_self.0.1", { ...UNCHANGED, name: "previous" });
  state = { ...state, view: "step", time: 4, paper: "you2020" };
  assert.deepEqual(readLink(linkOf(state), ["base"]), state);
  assert.deepEqual(readLink(linkOf(withPattern(state, "cross.1.0", null)), ["base"]).patterns, {
    "encoder_self.0.1": { ...UNCHANGED, name: "previous" },
  });

  const rest = "model=base&sentence=a";
  for (const wrong of ["x", "cross.0.1:dream:0:1:0:", "cross.0.1:bell:much:1:0:", "cross.0.1"]) {
    assert.deepEqual(readLink(`${rest}&patterns=${wrong}`, ["base"]).patterns, {}, wrong);
  }
  const wild = readLink(`${rest}&patterns=cross.0.1:bell:1e9:-3:1:1-2.x&time=-4`, ["base"]);
  const limited = { name: "bell", center: 6, std: 0.25, sums: true, blocked: [[1, 2]] };
  assert.deepEqual([wild.patterns["cross.0.1"], wild.time], [limited, 0]);
  for (const link of ["", "x", "model=base", "sentence=a", "model=other&sentence=a", "%00%ff="]) {
    assert.throws(
      () => readLink(link, ["base"]),
      /^Error: The link (holds no state|is for a model)/,
    );
  }
}

function checkHeads() {
  assert.deepEqual(toggled(toggled(FIRST, "cross.1.0"), "cross.1.0").off, []);
  const heads = [{ site: "cross", layer: 0, head: 1 }];
  const off = ["cross.0.1", "cross.0.2", "nonsense"];
  const wrong = { ...FIRST, off, focus: "cross.7.7", patterns: { "cross.7.7": UNCHANGED } };
  const rest = { ...FIRST, off: ["cross.0.1"] };
  assert.deepEqual(checked(wrong, heads), { state: rest, isWhole: false });
  assert.equal(checked(rest, heads).isWhole, true);
  assert.equal(checked({ ...FIRST, patterns: wrong.patterns }, heads).isWhole, false);

  assert.ok(namesFor("encoder_self.0.0").includes("previous"));
  assert.ok(!namesFor("cross.0.0").includes("previous"));
  assert.equal(changeOf("cross.0.1", UNCHANGED).pattern, null);
}

function checkTruth() {
  const kinds = (words, reference) =>
    aligned(words.split(" "), reference.split(" ")).map(({ text, kind }) => `${text} ${kind}`);
  assert.deepEqual(kinds("a b c", "a b c"), ["a right", "b right", "c right"]);
  assert.deepEqual(kinds("a x c", "a b c"), ["a right", "x wrong", "c right"]);
  assert.deepEqual(kinds("a c", "a b c"), ["a right", "b missing", "c right"]);
  assert.deepEqual(kinds("a b b", "a b"), ["a right", "b right", "b wrong"]);
  assert.deepEqual(kinds("c a", "a c"), ["c wrong", "a right", "c missing"]);
}

function checkStatistics() {
  const rows = [
    [0.5, 0.25, 0.25],
    [0.75, 0, 0.25],
    [0, 0, 1],
  ];
  const rounded = (site, given = rows, hasEndMark = true) => {
    const found = statisticsOf(site, given, hasEndMark);
    return [found.confidence, found.entropy, found.distance].map((x) => Number(x.toFixed(4)));
  };
  const nats = 1.5 * Math.LN2 + 0.75 * Math.log(4 / 3) + 0.25 * Math.log(4);
  const entropy = Number((nats / 3).toFixed(4));
  assert.deepEqual(rounded("encoder_self"), [0.625, entropy, 0.5]); // two words and the end mark
  assert.deepEqual(rounded("cross"), [0.4167, entropy, 0.5]); // the last row sees the mark alone
  assert.deepEqual(rounded("cross", rows, false), [0.75, entropy, 0.3333]);
  assert.deepEqual(rounded("decoder_self"), [0.75, entropy, 0.3333]);
  const nothing = [
    [0, 0, 0],
    [0.4, 0, 0],
  ];
  assert.deepEqual(rounded("cross", nothing), [0.2, 0, 1]); // of the row that is not all zeros
  const half = [[0.25, 0.25, 0]]; // its entropy is that of the row divided by its sum
  assert.deepEqual(rounded("cross", half), [0.25, Number(Math.LN2.toFixed(4)), 0]);
  const said = (given) => saidOf(statisticsOf("cross", given, true));
  assert.match(said(nothing), /rows sum to between 0.00 and 0.40/);
  assert.match(said(rows), /rows sum to 1.00/);
  assert.match(said([[0, 0, 0]]), /all its weights are zero/);
  assert.doesNotMatch(said([[0, 0, 1]]), /distance/); // it sees the end mark alone
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

if (process.argv[2] === "state") {
  for (const check of [checkHistory, checkLinks, checkHeads, checkTruth, checkStatistics])
    check();
} else await runWorker(process.argv[3]);
