// Clean a line as the lines of the training corpus were cleaned (`repro/data/characters.py`).
//
// The rules are regular expressions. They come with the model, so that they are written once.

// What Python calls a blank; JavaScript's own `trim` has a slightly different list.
const BLANKS =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const AROUND = new RegExp(`^[${BLANKS}]+|[${BLANKS}]+$`, "gu");

export const stripped = (text) => text.replace(AROUND, "");

/** Return a function that cleans a line; `rules` are those of a model's header. */
export function preparation({ suspect, fault, blank, separators, unspaced, lowercase }) {
  const [isSuspect, isBlank, isUnspaced] = [suspect, blank, unspaced].map(
    (source) => new RegExp(source, "u"),
  );
  const faults = new RegExp(fault, "gu");
  const between = new RegExp(separators, "gu");
  const clean = (line) => {
    if (!isSuspect.test(line)) return line;
    if (isUnspaced.test(line)) line = line.replace(between, " ");
    const replaced = line.replace(faults, (match, ...rest) => {
      const { fault } = rest.at(-1);
      if (fault === undefined) return match; // a joiner or a selector that means something
      return isBlank.test(match) ? " " : "";
    });
    return stripped(replaced);
  };
  return (line) => (lowercase ? clean(line).toLowerCase() : clean(line));
}
