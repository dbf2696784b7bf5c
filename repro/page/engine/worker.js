// The engine as a worker: the page sends what it wants to know, and stays free meanwhile.
//
//   in    load { name, text }                            a model file, deflated and in base64
//         translate { ticket, name, sentence, changes, attention }    `attention`: whether it is wanted
//         losses { ticket, name, sentence, known }       one answer a head, until something else is
//                                                        asked; `known` heads are left out
//   out   loaded { name, heads, source, target, corpus }
//         translation { ticket, ... }    attention { ticket, ... }
//         loss { ticket, ... }           losses { ticket }
//         refused { ticket, message }    in words for the reader

import { keyOf } from "./heads.js";
import { headLosses } from "./needed.js";
import { InputError, Translator } from "./translator.js";
import { ModelFileError } from "./model_file.js";
import { END_MARK, START_MARK, piecesOf, strangeWords, wordsOf } from "./words.js";

export const MOST_CHARACTERS = 4000;
export const MOST_TOKENS = 250; // attention takes memory with their square

const translators = new Map();

/** Undo base64 and deflate. */
async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function load({ name, text }, answer) {
  let bytes;
  try {
    bytes = await unpack(text);
  } catch {
    throw new ModelFileError("the model file is cut short or damaged");
  }
  const translator = new Translator(bytes);
  translators.set(name, translator);
  const { source, target, corpus } = translator.header;
  answer({ kind: "loaded", name, source, target, corpus, heads: translator.model.heads() });
}

/** Return the encoded sentence, or refuse it. */
function read(translator, sentence) {
  if (sentence.length > MOST_CHARACTERS) throw new InputError("That is too long for one sentence. Shorten it.");
  const src = translator.encode(sentence);
  if (translator.isEmpty(src)) throw new InputError("Type a sentence to translate.");
  translator.checkLength(src);
  if (src.length > MOST_TOKENS) {
    throw new InputError(`The sentence has ${src.length} pieces; this page reads ${MOST_TOKENS}. Shorten it.`);
  }
  return src;
}

function translate({ ticket, name, sentence, changes, attention }, answer) {
  const whole = translators.get(name);
  const translator = whole.changed(changes);
  const { subwords } = translator;
  const src = read(translator, sentence);
  const { ids, logProbs, cut } = translator.search(sentence, { beam: 1 });
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

async function losses({ ticket, name, sentence, known = [] }, answer, isNewest) {
  const translator = translators.get(name);
  const src = read(translator, sentence);
  const { ids } = translator.search(sentence, { beam: 1 });
  const wanted = translator.model.heads().filter((head) => head.factor && !known.includes(keyOf(head)));
  for (const loss of headLosses(translator.model, src, ids, wanted)) {
    answer({ kind: "loss", ticket, key: keyOf(loss), nats: loss.nats });
    await pause();
    if (!isNewest()) return; // something else is wanted by now
  }
  answer({ kind: "losses", ticket });
}

const TASKS = { load, translate, losses };

/** Answer messages of a page; `scope` is the worker. */
export function serve(scope) {
  let before = Promise.resolve();
  let newest = 0; // number of the last message
  scope.onmessage = ({ data }) => {
    const number = ++newest;
    const answer = (message) => scope.postMessage(message);
    // In order: a sentence that is sent while its model is still unpacked has to wait for it.
    before = before.then(() => TASKS[data.kind](data, answer, () => number === newest)).catch((error) => {
      const isKnown = error instanceof InputError || error instanceof ModelFileError;
      answer({ kind: "refused", ticket: data.ticket, message: isKnown ? error.message : `Something went wrong: ${error.message}` });
    });
  };
}
