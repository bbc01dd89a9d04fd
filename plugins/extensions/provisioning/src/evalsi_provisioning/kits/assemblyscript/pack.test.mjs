// Calls the built module as the host does: sentences are counted as a reader counts them, an output without words is
// skipped, and values of every form are read.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const module = /^module = "(.+)"$/m.exec(await readFile("plugin.toml", "utf8"))[1];
const { instance } = await WebAssembly.instantiate(await readFile(module), {});
const { memory, evalsi_abi, evalsi_alloc, evalsi_describe, evalsi_score } = instance.exports;

function answer(place) {
  const at = Number(BigInt.asUintN(64, place) >> 32n);
  const size = Number(BigInt.asUintN(32, place));
  return new Reader(new Uint8Array(memory.buffer, at, size)).value();
}

function score(body) {
  const bytes = packed(body);
  const at = evalsi_alloc(bytes.length);
  new Uint8Array(memory.buffer).set(bytes, at);
  return answer(evalsi_score(at, bytes.length)).outcomes;
}

function outcomes(ends, ...outputs) {
  const records = outputs.map((output, number) => ({ id: `${number}`, output, metadata: { deep: [1, null, [true]] } }));
  return score({ records, evaluator: "sentence-length", params: { ends } });
}

/** A value as MessagePack; bytes are passed on as they are. */
function packed(value) {
  if (value instanceof Uint8Array) return value;
  if (value === null) return Buffer.of(0xc0);
  if (typeof value === "boolean") return Buffer.of(value ? 0xc3 : 0xc2);
  if (typeof value === "number") return headed(0xcb, 8, (head) => head.writeDoubleBE(value, 1));
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    const short = bytes.length < 32;
    return Buffer.concat([short ? Buffer.of(0xa0 | bytes.length) : sized(0xdb, bytes.length), bytes]);
  }
  const entries = Array.isArray(value) ? value : Object.entries(value).flat();
  const count = Array.isArray(value) ? value.length : entries.length / 2;
  const head = Array.isArray(value) ? sized(0xdd, count) : count < 16 ? Buffer.of(0x80 | count) : sized(0xdf, count);
  return Buffer.concat([head, ...entries.map(packed)]);
}

function headed(kind, bytes, write) {
  const head = Buffer.alloc(1 + bytes);
  head[0] = kind;
  write(head);
  return head;
}

function sized(kind, size) {
  return headed(kind, 4, (head) => head.writeUInt32BE(size, 1));
}

/** Reads what the module writes. */
class Reader {
  constructor(bytes) {
    this.bytes = Buffer.from(bytes);
    this.at = 0;
  }

  value() {
    const kind = this.bytes[this.at];
    if (kind === 0xcb) {
      this.at += 9;
      return this.bytes.readDoubleBE(this.at - 8);
    }
    const size = this.bytes.readUInt32BE(this.at + 1);
    this.at += 5;
    if (kind === 0xdb) {
      this.at += size;
      return this.bytes.toString("utf8", this.at - size, this.at);
    }
    if (kind === 0xdd) return Array.from({ length: size }, () => this.value());
    assert.equal(kind, 0xdf);
    return Object.fromEntries(Array.from({ length: size }, () => [this.value(), this.value()]));
  }
}

test("the module says what it is", () => {
  assert.equal(evalsi_abi(), 1);
  assert.deepEqual(answer(evalsi_describe()), { evaluators: [{ name: "sentence-length", version: "1" }] });
});

test("the words of a sentence are averaged", () => {
  const found = outcomes(".!?", "One two three. Four!", "one\ntwo\u3000three");
  assert.deepEqual(found, [["scored", [{ value: 2 }]], ["scored", [{ value: 1.5 }]]]);
});

test("other ends of a sentence can be named", () => {
  assert.deepEqual(outcomes(";", "one two; three"), [["scored", [{ value: 1.5 }]]]);
  assert.deepEqual(outcomes("。", "猫。犬。"), [["scored", [{ value: 1 }]]]);
  assert.deepEqual(outcomes("𝔘", "one two𝔘three 𝔙"), [["scored", [{ value: 2 }]]]);
});

test("what has no words, or is no text, is skipped", () => {
  const kinds = outcomes(".!?", " . ", "", { json: 3 }, [{ role: "user", content: "Hi." }], null).map(([kind]) => kind);
  assert.deepEqual(kinds, Array(5).fill("skipped"));
});

test("a long text and many records are read and answered", () => {
  const found = outcomes(".", ...Array(500).fill("word ".repeat(1000)));
  assert.deepEqual(found, Array(500).fill(["scored", [{ value: 1000 }]]));
});

test("values of every form are skipped where they are not needed", () => {
  const forms = [
    [0x07], [0xff], [0xc0], [0xc2], [0xc3], [0xcc, 1], [0xcd, 1, 1], [0xce, 1, 1, 1, 1], [0xd0, 1], [0xd1, 1, 1],
    [0xca, 1, 1, 1, 1], [0xcf, 1, 1, 1, 1, 1, 1, 1, 1], [0xd3, 1, 1, 1, 1, 1, 1, 1, 1], [0xc4, 1, 9], [0xd9, 1, 0x61],
    [0xda, 0, 1, 0x61], [0x91, 0xc0], [0xdc, 0, 1, 0xc0], [0x81, 0xa1, 0x61, 0xc0], [0xde, 0, 1, 0xa1, 0x61, 0xc0],
  ].map((form) => Uint8Array.from(form));
  for (const form of forms) {
    const found = score({ new: form, params: { other: form, ends: "." }, records: [{ new: form, output: "a b." }] });
    assert.deepEqual(found, [["scored", [{ value: 2 }]]]);
  }
});

test("a body that is cut off stops the module", async () => {
  const whole = packed({ params: { ends: "." }, records: [{ output: "a b." }] });
  for (let size = 0; size < whole.length; size++) {
    const fresh = (await WebAssembly.instantiate(await readFile(module), {})).instance.exports;
    const at = fresh.evalsi_alloc(size);
    new Uint8Array(fresh.memory.buffer).set(whole.subarray(0, size), at);
    assert.throws(() => fresh.evalsi_score(at, size), WebAssembly.RuntimeError, `${size} bytes`);
  }
});
