// A trained model with its subwords: sentences in, sentences out.

import { readModelFile } from "./model_file.js";
import { preparation } from "./prepare.js";
import { scoreTokens, search } from "./search.js";
import { EOS, Subwords } from "./subwords.js";
import { Transformer } from "./transformer.js";

/** What a user may mend: the page shows its message. */
export class InputError extends Error {}

export class Translator {
  /** `bytes`: a model file. */
  constructor(bytes) {
    const file = readModelFile(bytes);
    this.header = file.header;
    this.subwords = new Subwords(file.subwordModel);
    this.prepare = preparation(file.header.cleaning);
    this.model = new Transformer(file, (id) => this.subwords.startsWord(id));
  }

  /** Return this translator with some heads changed; see `MultiHeadAttention.changed`. */
  changed(changes) {
    return Object.assign(Object.create(Translator.prototype), this, {
      model: this.model.changed(changes),
    });
  }

  /** Return the ids of a sentence as the model reads them. */
  encode(sentence) {
    const ids = this.subwords.encode(this.prepare(sentence));
    return this.header.source_end_mark ? [...ids, EOS] : ids;
  }

  /** Return { ids, score, cut } of a sentence; an empty one has an empty translation. */
  search(sentence, options = {}) {
    const src = this.encode(sentence);
    this.checkLength(src);
    if (this.isEmpty(src)) return { ids: [], score: 0, cut: false, logProbs: [] };
    return search(this.model, src, { maxTokens: this.header.max_target ?? Infinity, ...options });
  }

  /** Whether encoded text holds no word. */
  isEmpty(src) {
    return src.length === Number(this.header.source_end_mark);
  }

  /** Refuse a sentence that is longer than the attention is defined for. */
  checkLength(src) {
    const most = this.header.max_source ?? Infinity;
    if (src.length > most) {
      throw new InputError(
        `The sentence has ${src.length} tokens; this model reads ${most}. Shorten it.`,
      );
    }
  }

  translate(sentence, options) {
    return this.subwords.decode(this.search(sentence, options).ids);
  }

  /**
   * Return where each head looks, while given source ids are read and a given translation is
   * written.
   *
   * site -> [layer] -> [head][query] -> Float32Array over the keys.
   */
  attention(src, ids) {
    const found = { encoder_self: [], decoder_self: [], cross: [] };
    scoreTokens(this.model, src, ids, (site, layer, weights) => (found[site][layer] = weights));
    return found;
  }
}
