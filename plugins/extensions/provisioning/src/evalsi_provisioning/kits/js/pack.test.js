// Sentences are counted as a reader counts them; an output without words is skipped.

import assert from "node:assert/strict";
import { test } from "node:test";

import { call } from "./pack.js";

function outcomes(ends, ...records) {
  return JSON.parse(call("score", JSON.stringify({ evaluator: "sentence-length", params: { ends }, records }))).outcomes;
}

test("the words of a sentence are averaged", () => {
  const records = [{ output: "One two three. Four!" }, { output: "one\ntwo\u3000three" }];
  assert.deepEqual(outcomes(".!?", ...records), [["scored", [{ value: 2 }]], ["scored", [{ value: 1.5 }]]]);
});

test("other ends of a sentence can be named", () => {
  assert.deepEqual(outcomes(";", { output: "one two; three" }), [["scored", [{ value: 1.5 }]]]);
  assert.deepEqual(outcomes("。", { output: "猫。犬。" }), [["scored", [{ value: 1 }]]]);
});

test("what has no words, or is no text, is skipped", () => {
  const records = [{ output: " . " }, { output: "" }, { output: { json: 3 } }];
  assert.deepEqual(outcomes(".!?", ...records).map(([kind]) => kind), ["skipped", "skipped", "skipped"]);
});
