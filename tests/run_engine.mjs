// Run the page's engine in Node: a list of jobs in, one line of JSON for each out.
//
//   node run_engine.mjs < jobs.json
//
// A job is [function, model file, arguments]; the functions are below.

import { readFileSync } from "node:fs";
import { VARIANTS } from "../repro/page/engine/attention/registry.js";
import { headLosses, prunedModels } from "../repro/page/engine/needed.js";
import { scoreTokens } from "../repro/page/engine/search.js";
import { decodingStep } from "../repro/page/engine/step.js";
import { Translator } from "../repro/page/engine/translator.js";
import { statisticsOf } from "../repro/page/front/statistics.js";

const loaded = new Map();
let translator;

function load(path) {
  if (!loaded.has(path)) loaded.set(path, new Translator(new Uint8Array(readFileSync(path))));
  return loaded.get(path);
}

const lists = (value) =>
  ArrayBuffer.isView(value) ? [...value] : Array.isArray(value) ? value.map(lists) : value;

const FUNCTIONS = {
  variants: () => Object.keys(VARIANTS),
  encode: ({ sentence }) => translator.encode(sentence),
  prepare: ({ sentence }) => translator.prepare(sentence),
  decode: ({ ids }) => translator.subwords.decode(ids),
  unknown: ({ sentence }) => translator.subwords.unknownCharacters(translator.prepare(sentence)),
  translate: ({ sentence, search, changes = [] }) => {
    const changed = translator.changed(changes);
    const found = changed.search(sentence, search);
    return { text: changed.subwords.decode(found.ids), ...found };
  },
  parameter: ({ name }) => [...translator.model.tensor(name).data],
  score: ({ src, ids, changes = [] }) => scoreTokens(translator.changed(changes).model, src, ids),
  pruned: ({ src, ids, order }) =>
    [...prunedModels(translator.model, src, ids, order)].map(({ count, nats }) => ({
      count,
      nats,
    })),
  step: ({ src, ids, time, head, changes = [] }) => {
    const { query, rows, sum, ...rest } = decodingStep(
      translator.changed(changes).model,
      src,
      ids,
      time,
      head,
    );
    const listed = rows.map((row) => ({ ...row, key: lists(row.key), value: lists(row.value) }));
    return { ...rest, query: lists(query), sum: lists(sum), rows: listed };
  },
  statistics: ({ src, ids, site, layer, head }) => {
    const weights = translator.attention(src, ids)[site][layer][head];
    return statisticsOf(site, weights, translator.header.source_end_mark);
  },
  losses: ({ src, ids }) => [...headLosses(translator.model, src, ids)],
  attention: ({ src, ids, changes = [] }) => {
    const found = translator.changed(changes).attention(src, ids);
    return Object.fromEntries(
      Object.entries(found).map(([site, layers]) => [
        site,
        Array.from(layers, (x) => lists(x ?? null)),
      ]),
    );
  },
};

for (const [name, path, job] of JSON.parse(readFileSync(0, "utf8"))) {
  let answer;
  try {
    translator = load(path);
    answer = FUNCTIONS[name](job);
  } catch (error) {
    answer = { error: error.message };
  }
  console.log(JSON.stringify(answer));
}
