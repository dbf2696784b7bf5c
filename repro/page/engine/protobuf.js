// Read the parts of a sentencepiece model that are needed, from its own file.
//
// The file is a protocol buffer: a list of fields, each with a number and a kind. Kind 0 is a whole
// number in 7-bit groups, kind 2 is a length and as many bytes, kinds 1 and 5 are 8 and 4 bytes.

/** Yield [number of the field, its value] of a message. */
function* fieldsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const whole = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (!(byte & 128)) return value;
    }
  };
  while (at < bytes.length) {
    const tag = whole();
    const kind = tag & 7;
    if (kind === 0) yield [tag >> 3, whole()];
    else if (kind === 2) {
      const length = whole();
      yield [tag >> 3, bytes.subarray(at, at + length)];
      at += length;
    } else if (kind === 5) {
      yield [tag >> 3, view.getFloat32(at, true)];
      at += 4;
    } else if (kind === 1) at += 8;
    else throw new Error(`a field of kind ${kind} is not in a sentencepiece model`);
  }
}

const text = (bytes) => new TextDecoder().decode(bytes);

/** The types of pieces, as sentencepiece_model.proto numbers them. */
export const NORMAL = 1;
export const UNKNOWN = 2;
export const CONTROL = 3;
export const BYTE = 6;

/** Return the pieces of a sentencepiece model, with its way of normalising text. */
export function readSubwordModel(bytes) {
  const model = {
    pieces: [],
    byteFallback: false,
    charsmap: new Uint8Array(0),
    removeExtraBlanks: true,
  };
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1) model.pieces.push(readPiece(value));
    else if (field === 2) {
      for (const [number, setting] of fieldsOf(value))
        if (number === 35) model.byteFallback = setting === 1;
    } else if (field === 3) {
      for (const [number, setting] of fieldsOf(value)) {
        if (number === 2) model.charsmap = setting;
        else if (number === 4) model.removeExtraBlanks = setting === 1;
      }
    }
  }
  return model;
}

function readPiece(bytes) {
  const piece = { text: "", score: 0, type: NORMAL };
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1) piece.text = text(value);
    else if (field === 2) piece.score = value;
    else if (field === 3) piece.type = value;
  }
  return piece;
}
