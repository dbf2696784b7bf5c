// The layers of encoder and decoder: sublayers with residuals (Vaswani et al. 2017, section 3).
//
// A sublayer whose variant is `none` is missing altogether: it is null here.

import { add, layerNorm, linear, relu } from "./tensor.js";

/**
 * The residual connection and layer norm around a sublayer; `tensor(name)` finds its parameters.
 */
export class Residual {
  constructor(sublayer, norm, tensor) {
    Object.assign(this, { sublayer, isPre: norm === "pre" });
    this.weight = tensor("norm.weight");
    this.bias = tensor("norm.bias");
  }

  enter(rows) {
    return this.isPre ? layerNorm(rows, this.weight, this.bias) : rows;
  }

  leave(rows, output) {
    const sum = add(rows, output);
    return this.isPre ? sum : layerNorm(sum, this.weight, this.bias);
  }

  /** Return the same place with another sublayer in it. */
  with(sublayer) {
    return Object.assign(Object.create(Residual.prototype), this, { sublayer });
  }
}

/** Two linear layers with a ReLU between, at every position by itself. */
export class FeedForward {
  constructor(tensor) {
    this.first = { weight: tensor("0.weight"), bias: tensor("0.bias") };
    this.second = { weight: tensor("2.weight"), bias: tensor("2.bias") };
  }

  apply(rows) {
    const inner = relu(linear(rows, this.first.weight, this.first.bias));
    return linear(inner, this.second.weight, this.second.bias);
  }
}

function feedForward(place, rows) {
  return place ? place.leave(rows, place.sublayer.apply(place.enter(rows))) : rows;
}

/** Attend within a layer, and tell a watcher the weights. `attended(entered)`: keys and values. */
function attend(place, rows, attended, context, watch) {
  if (!place) return rows;
  const entered = place.enter(rows);
  const found = place.sublayer.attend(entered, attended(entered), context);
  watch(found.weights);
  return place.leave(rows, found.rows);
}

/** Read a whole sentence. `watch(site, weights)` is told where each head looked. */
export function encoderLayer(layer, rows, context, watch) {
  const all = (entered) => layer.encoder_self.sublayer.project(entered);
  rows = attend(layer.encoder_self, rows, all, context, (weights) =>
    watch("encoder_self", weights),
  );
  return feedForward(layer.feedForward, rows);
}

/**
 * Read further target tokens behind the cached ones.
 *
 * `cache.past` holds keys and values of the target so far, a row for each position, and
 * `cache.source`
 * those of the encoded source. The past that is returned is a new list of the same rows: hypotheses
 * that begin alike share them.
 */
export function decoderLayer(layer, rows, cache, context, watch) {
  let past = cache.past;
  const extend = (entered) => {
    past = joined(past, layer.decoder_self.sublayer.project(entered));
    return past;
  };
  const { positions } = context;
  const future = (i, j) => j > positions[i];
  rows = attend(layer.decoder_self, rows, extend, { ...context, blocked: future }, (weights) =>
    watch("decoder_self", weights),
  );
  rows = attend(
    layer.cross,
    rows,
    () => cache.source,
    context,
    (weights) => watch("cross", weights),
  );
  return { rows: feedForward(layer.feedForward, rows), cache: { past, source: cache.source } };
}

function joined(past, { key, value }) {
  if (!past) return { key, value };
  return { key: key && [...past.key, ...key], value: [...past.value, ...value] };
}
