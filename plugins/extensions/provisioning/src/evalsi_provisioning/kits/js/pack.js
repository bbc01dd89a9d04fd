// What the host calls: a function by its name, with its body as JSON, in the world of pack.wit.
//
// docs/reference/wasm-abi.md of Evals.si says each sentence of it. To add an evaluator, add it to `describe`, to
// `score` and to plugin.toml.

import { sentenceLength } from "./sentence_length.js";

const functions = {
  // By the names and versions of plugin.toml, which says the rest.
  describe: () => ({ evaluators: [{ name: "sentence-length", version: "1" }] }),

  score: ({ params, records }) => ({ outcomes: records.map(({ output }) => outcome(output, params.ends)) }),
};

export function call(name, body) {
  return JSON.stringify(functions[name](JSON.parse(body)));
}

function outcome(output, ends) {
  if (typeof output !== "string") return ["skipped", { reason: "the output is no plain text" }];
  const length = sentenceLength(output, ends);
  // Nothing to judge is no number: neither 0 nor 1.
  if (length === null) return ["skipped", { reason: "the output has no words" }];
  return ["scored", [{ value: length }]];
}
