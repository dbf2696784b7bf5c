// Read a model as `repro/page/export.py` writes it: one file, no library, nothing executed.
//
//   4 bytes    "RPR2"
//   4 bytes    length of the header, little-endian
//   header     JSON
//   numbers    all parameters in half precision, one after another: the lower byte of each, then
//              the upper byte of each, as the upper ones are alike and deflate better alone
//   subwords   the sentencepiece model of the run, as it is

export class ModelFileError extends Error {}

const MAGIC = "RPR2";

/** Return { header, tensors, subwordModel } of the bytes of a model file. */
export function readModelFile(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const magic = String.fromCharCode(...bytes.subarray(0, 4));
  if (!MAGIC.startsWith(magic)) throw new ModelFileError("the model is not a model file of repro");
  if (bytes.length < 8) throw new ModelFileError("the model file is cut short");
  const headerEnd = 8 + view.getUint32(4, true);
  if (headerEnd > bytes.length) throw new ModelFileError("the model file is cut short");
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, headerEnd)));
  const subwordsStart = headerEnd + 2 * header.numNumbers;
  if (subwordsStart + header.subwordBytes !== bytes.length)
    throw new ModelFileError("the model file is cut short");

  const numbers = fromHalf(bytes.subarray(headerEnd, subwordsStart));
  return {
    header,
    tensors: tensorsOf(header.tensors, numbers),
    subwordModel: bytes.subarray(subwordsStart),
  };
}

/** Name the parts of one long list of numbers: name -> { shape, data }. */
function tensorsOf(index, numbers) {
  const byStart = new Map(); // two names of one shared matrix stay one matrix
  const tensors = new Map();
  for (const [name, { start, shape }] of Object.entries(index)) {
    const size = shape.reduce((product, axis) => product * axis, 1);
    if (!byStart.has(start))
      byStart.set(start, { shape, data: numbers.subarray(start, start + size) });
    tensors.set(name, byStart.get(start));
  }
  return tensors;
}

/**
 * Turn half precision (IEEE 754 binary16), lower bytes before upper ones, into single precision.
 *
 * A half has a sign, 5 bits of exponent and 10 bits of fraction: few enough that all 65,536
 * values fit into a table.
 */
function fromHalf(bytes) {
  const values = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = (bits & 1023) / 1024;
    values[bits] = exponent
      ? sign * 2 ** (exponent - 15) * (1 + fraction)
      : sign * 2 ** -14 * fraction;
  }
  const numbers = new Float32Array(bytes.length / 2);
  for (let i = 0; i < numbers.length; i++)
    numbers[i] = values[bytes[i] | (bytes[numbers.length + i] << 8)];
  return numbers;
}
