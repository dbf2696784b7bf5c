// The encoder-decoder of all five papers, with an attention variant named per site and layer.
//
// The names of parameters are those of `repro/core/transformer.py`.

import { buildWeights } from "./attention/registry.js";
import { SITES } from "./heads.js";
import { FeedForward, Residual, decoderLayer, encoderLayer } from "./layers.js";
import { MultiHeadAttention, gateFactors } from "./multihead.js";
import { add, layerNorm, linear } from "./tensor.js";

const SUBLAYER = {
  encoder_self: "self_attention",
  decoder_self: "self_attention",
  cross: "cross_attention",
};

const ignore = () => {};

export class Transformer {
  /**
   * `header`, `tensors`: of the model's file. `startsWord(id)`: whether a word begins with a
   * subword; patterns over words need it.
   */
  constructor({ header, tensors }, startsWord) {
    this.config = header.model;
    this.tensor = (name) => {
      if (!tensors.has(name)) throw new Error(`the model has no parameter '${name}'`);
      return tensors.get(name);
    };
    this.startsWord = startsWord;
    const { encoder_layers: numEncoder, decoder_layers: numDecoder } = this.config;
    const places = (site, layer) => this.buildAttention(site, layer, header.attention[site][layer]);
    this.encoder = Array.from({ length: numEncoder }, (_, l) => ({
      encoder_self: places("encoder_self", l),
      feedForward: this.buildFeedForward(`encoder.${l}`),
    }));
    this.decoder = Array.from({ length: numDecoder }, (_, l) => ({
      decoder_self: places("decoder_self", l),
      cross: places("cross", l),
      feedForward: this.buildFeedForward(`decoder.${l}`),
    }));
  }

  buildAttention(site, layer, attention) {
    if (attention === null) return null;
    const name = `${site === "encoder_self" ? "encoder" : "decoder"}.${layer}.${SUBLAYER[site]}`;
    const at = (prefix) => (rest) => this.tensor(`${prefix}.${rest}`);
    const inner = at(`${name}.sublayer`);
    const { embed_dim: embedDim, num_heads: numHeads, gated_sites, gate_rule } = this.config;
    const stack = { site, layer, embedDim, numHeads, tensor: at(`${name}.sublayer.weights`) };
    const variant = buildWeights(attention.variant, stack, attention.options);
    const factors = gated_sites.includes(site)
      ? gateFactors(inner("gate.log_alpha").data, gate_rule)
      : Array(variant.numHeads).fill(1);
    const sublayer = new MultiHeadAttention(
      variant,
      inner("value_proj.weight"),
      inner("out_proj.weight"),
      factors,
    );
    return new Residual(sublayer, this.config.norm, at(name));
  }

  buildFeedForward(layer) {
    if (!this.config.feed_forward) return null;
    const at = (prefix) => (rest) => this.tensor(`${prefix}.${rest}`);
    const sublayer = new FeedForward(at(`${layer}.feed_forward.sublayer`));
    return new Residual(sublayer, this.config.norm, at(`${layer}.feed_forward`));
  }

  /**
   * Return all heads as { site, layer, head, factor }; a factor of 0 is a gate that training has
   * shut.
   */
  heads() {
    const stacks = { encoder_self: this.encoder, decoder_self: this.decoder, cross: this.decoder };
    return SITES.flatMap((site) =>
      stacks[site].flatMap((layers, layer) => {
        const factors = layers[site]?.sublayer.factors ?? [];
        return factors.map((factor, head) => ({ site, layer, head, factor }));
      }),
    );
  }

  /**
   * Return this model with some heads changed; see `MultiHeadAttention.changed`. This one stays as
   * it is.
   */
  changed(changes) {
    return changes.reduce(
      (model, change) =>
        model.withSublayer(change.site, change.layer, (sublayer) => sublayer.changed(change)),
      this,
    );
  }

  /** Return this model with what `change` makes of one attention sublayer. */
  withSublayer(site, layer, change) {
    const name = site === "encoder_self" ? "encoder" : "decoder";
    const stack = [...this[name]];
    const place = stack[layer][site];
    stack[layer] = { ...stack[layer], [site]: place.with(change(place.sublayer)) };
    return Object.assign(Object.create(Transformer.prototype), this, { [name]: stack });
  }

  /** Encode source ids: a row for each. `watch(site, layer, weights)` is told where heads look. */
  encode(ids, watch = ignore) {
    const positions = ids.map((_, i) => i);
    let word = -1;
    const words = ids.map((id) => Math.max(0, (word += Number(this.startsWord(id)))));
    const context = { positions, words, blocked: () => false };
    let rows = this.embed("source_embedding.weight", ids, positions, this.config.encoder_positions);
    this.encoder.forEach((layer, l) => {
      rows = encoderLayer(layer, rows, context, (site, weights) => watch(site, l, weights));
    });
    return this.lastNorm("encoder_norm", rows);
  }

  /** Encode source ids and get ready to decode their translation. */
  start(ids) {
    return this.startFrom(this.encode(ids));
  }

  /**
   * Get ready to decode: project the encoded source, once for the sentence, and begin with no past.
   */
  startFrom(encoded) {
    const caches = this.decoder.map(({ cross }) => ({
      past: null,
      source: cross && cross.sublayer.project(encoded),
    }));
    return { caches, length: 0 };
  }

  /**
   * Read target ids that continue a state; return the last layer's rows, and the state after them.
   */
  decode(state, ids, watch = ignore) {
    const positions = ids.map((_, i) => state.length + i);
    const context = { positions, words: null, blocked: () => false };
    let rows = this.embed(this.targetName(), ids, positions, this.config.decoder_positions);
    const caches = this.decoder.map((layer, l) => {
      const step = decoderLayer(layer, rows, state.caches[l], context, (site, weights) =>
        watch(site, l, weights),
      );
      rows = step.rows;
      return step.cache;
    });
    return {
      rows: this.lastNorm("decoder_norm", rows),
      state: { caches, length: state.length + ids.length },
    };
  }

  /** Return the scores of the next token after each row of the decoder. */
  output(rows) {
    return linear(
      rows,
      this.tensor(this.config.tie_embeddings ? "source_embedding.weight" : "output.weight"),
    );
  }

  targetName() {
    return this.config.tie_embeddings ? "source_embedding.weight" : "target_embedding.weight";
  }

  lastNorm(name, rows) {
    if (this.config.norm !== "pre") return rows;
    return layerNorm(rows, this.tensor(`${name}.weight`), this.tensor(`${name}.bias`));
  }

  embed(name, ids, positions, hasPositions) {
    const {
      data,
      shape: [, width],
    } = this.tensor(name);
    const scale = Math.sqrt(width);
    const rows = ids.map((id) => data.slice(id * width, (id + 1) * width).map((x) => x * scale));
    return hasPositions
      ? add(
          rows,
          positions.map((position) => sinusoids(position, width)),
        )
      : rows;
  }
}

/** Return the embedding of a position (section 3.5): sines in even, cosines in odd columns. */
export function sinusoids(position, width) {
  const row = new Float32Array(width);
  for (let i = 0; i < width; i += 2) {
    const exponent = Math.fround(i / width); // rounded where torch rounds
    const angle = Math.fround(position / Math.fround(10000 ** exponent));
    row[i] = Math.sin(angle);
    row[i + 1] = Math.cos(angle);
  }
  return row;
}
