// The engine as a worker: the page sends what it wants to know, and stays free meanwhile.
//
//   in    load { name, text }                            a model file, deflated and in base64
//         translate { ticket, name, sentence, changes, attention }     whether it is wanted, too
//         losses { ticket, name, sentence, known }       one answer a head, until other losses are
//                                                        asked for; `known` heads are left out
//         prune { ticket, name, sentence, order }        one answer a head that is switched off
//         step { ticket, name, sentence, changes, head, time }        one step of the decoder
//   out   loaded { ticket, name, heads, source, target, corpus }
//         translation { ticket, ... }    attention { ticket, ... }
//         loss { ticket, ... }           losses { ticket }
//         pruned { ticket, ... }         allPruned { ticket }
//         step { ticket, ... }
//         refused { ticket, message }    in words for the reader

import { headOf, keyOf } from "./heads.js";
import { headLosses, prunedModels } from "./needed.js";
import { search } from "./search.js";
import { decodingStep } from "./step.js";
import { InputError, Translator } from "./translator.js";
import { ModelFileError } from "./model_file.js";
import { END_MARK, START_MARK, piecesOf, strangeWords, wordsOf } from "./words.js";

export const MOST_CHARACTERS = 4000;
export const MOST_TOKENS = 250; // attention takes memory with their square

const GREEDY = { beam: 1 };

const translators = new Map();

/** Undo base64 and deflate. */
async function unpack(text) {
  const letters = atob(text);
  const packed = new Uint8Array(letters.length);
  // A loop takes a twentieth of the time of `Uint8Array.from`.
  for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function load({ ticket, name, text }, answer) {
  let bytes;
  try {
    bytes = await unpack(text);
  } catch {
    throw new ModelFileError("the model file is cut short or damaged");
  }
  const translator = new Translator(bytes);
  translators.set(name, translator);
  const { source, target, corpus } = translator.header;
  answer({ kind: "loaded", ticket, name, source, target, corpus, heads: translator.model.heads() });
}

/** Return the encoded sentence, or refuse it. */
function read(translator, sentence) {
  if (sentence.length > MOST_CHARACTERS)
    throw new InputError("That is too long for one sentence. Shorten it.");
  const src = translator.encode(sentence);
  if (translator.isEmpty(src)) throw new InputError("Type a sentence to translate.");
  translator.checkLength(src);
  if (src.length > MOST_TOKENS) {
    throw new InputError(
      `The sentence has ${src.length} pieces; this page reads ${MOST_TOKENS}. Shorten it.`,
    );
  }
  return src;
}

function translate({ ticket, name, sentence, changes, attention }, answer) {
  const whole = translators.get(name);
  const translator = whole.changed(changes);
  const { subwords } = translator;
  const src = read(translator, sentence);
  const { ids, logProbs, cut } = translator.search(sentence, GREEDY);
  const prepared = translator.prepare(sentence);
  answer({
    kind: "translation",
    ticket,
    cut,
    text: subwords.decode(ids),
    words: wordsOf(subwords, ids, logProbs),
    unknown: subwords.unknownCharacters(prepared),
    strange: strangeWords(subwords, prepared),
  });
  if (!attention) return;
  answer({
    kind: "attention",
    ticket,
    source: piecesOf(subwords, src),
    target: [START_MARK, ...piecesOf(subwords, ids)],
    written: [...piecesOf(subwords, ids), END_MARK],
    weights: translator.attention(src, ids),
  });
}

/** Let other messages in. */
const pause = () => new Promise((resume) => setTimeout(resume));

/** Answer bit by bit while other messages are answered in between, until `isNewest()` is over. */
async function inBackground(answers, answer, isNewest) {
  for (const each of answers) {
    answer(each);
    await pause();
    if (!isNewest()) return; // another sentence is wanted by now
  }
}

function* losses({ ticket, name, sentence, known = [] }) {
  const { model, src, ids } = translated(name, sentence);
  const wanted = model.heads().filter((head) => head.factor && !known.includes(keyOf(head)));
  for (const loss of headLosses(model, src, ids, wanted)) {
    yield { kind: "loss", ticket, key: keyOf(loss), nats: loss.nats };
  }
  yield { kind: "losses", ticket };
}

/** Switch off one head of a list after another, and say what becomes of the translation. */
function* prune({ ticket, name, sentence, order }) {
  const { translator, src, ids } = translated(name, sentence);
  for (const { count, nats, model } of prunedModels(translator.model, src, ids, order)) {
    const { text } = textOf(translator, model, src);
    yield { kind: "pruned", ticket, count, nats, text };
  }
  yield { kind: "allPruned", ticket };
}

function translated(name, sentence) {
  const translator = translators.get(name);
  const src = read(translator, sentence);
  return { translator, model: translator.model, src, ids: translator.search(sentence, GREEDY).ids };
}

function textOf(translator, model, src) {
  const { ids } = search(model, src, {
    ...GREEDY,
    maxTokens: translator.header.max_target ?? Infinity,
  });
  return { text: translator.subwords.decode(ids) };
}

/** Take one step of the decoder apart. */
function step({ ticket, name, sentence, changes, head, time }, answer) {
  const translator = translators.get(name).changed(changes);
  const { subwords } = translator;
  const src = read(translator, sentence);
  const { ids } = translator.search(sentence, GREEDY);
  const at = Math.min(time, ids.length);
  const found = decodingStep(translator.model, src, ids, at, headOf(head));
  const target = [START_MARK, ...piecesOf(subwords, ids)];
  const attended = head.startsWith("cross") ? piecesOf(subwords, src) : target.slice(0, at + 1);
  const next = found.next.map(({ id, probability }) => ({
    text: piecesOf(subwords, [id])[0],
    probability,
  }));
  answer({ ...found, kind: "step", ticket, time: at, target, attended, next });
}

const TASKS = { load, translate, step };
const BACKGROUND = { losses, prune }; // each is ended by another one of its kind

function refusalOf(error, ticket) {
  const isKnown = error instanceof InputError || error instanceof ModelFileError;
  return {
    kind: "refused",
    ticket,
    message: isKnown ? error.message : `Something went wrong: ${error.message}`,
  };
}

/** Answer messages of a page; `scope` is the worker. */
export function serve(scope) {
  let before = Promise.resolve();
  let count = 0;
  const newest = {}; // kind -> number of its last message
  const answer = (message) => scope.postMessage(message);
  scope.onmessage = ({ data }) => {
    const { kind, ticket } = data;
    const number = (newest[kind] = ++count);
    const isNewest = () => newest[kind] === number;
    const refuse = (error) => answer(refusalOf(error, ticket));
    // In order: a sentence that is sent while its model is still unpacked has to wait for it. What
    // runs in the background begins in order, too, but nothing waits for its end.
    before = before.then(() => {
      if (!(kind in BACKGROUND)) return TASKS[kind](data, answer);
      inBackground(BACKGROUND[kind](data), answer, isNewest).catch(refuse);
      return null;
    });
    before = before.catch(refuse);
  };
}
