// How heads are named: in links by a key such as `cross.1.0`, for people in words.

export const SITES = ["encoder_self", "decoder_self", "cross"];

export const TITLES = {
  encoder_self: "Encoder self-attention",
  decoder_self: "Decoder self-attention",
  cross: "Cross attention",
};

const FIRST = 1; // of layers and heads for people, as in `repro/core/numbering.py`

export const keyOf = ({ site, layer, head }) => `${site}.${layer}.${head}`;

export function headOf(key) {
  const [site, layer, head] = key.split(".");
  return { site, layer: Number(layer), head: Number(head) };
}

export const numberOf = (head) => head + FIRST;

export const layerName = (layer) => `layer ${layer + FIRST}`;

export const headName = ({ site, layer, head }) =>
  `${TITLES[site]}, ${layerName(layer)}, head ${numberOf(head)}`;
