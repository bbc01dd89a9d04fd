// What the host calls: bodies of MessagePack in and out of this module's memory.
//
// docs/reference/wasm-abi.md of Evals.si defines each call. To add an evaluator, add it to `evalsi_describe`, to
// `evalsi_score` and to plugin.toml.

import { Reader, Writer } from "./msgpack";
import { sentenceLength } from "./sentence_length";

// Global, so that neither is freed while the host reads or writes it.
let body: Uint8Array = new Uint8Array(0);
let answer: Uint8Array = new Uint8Array(0);

export function evalsi_abi(): i32 {
  return 1;
}

export function evalsi_alloc(size: i32): usize {
  body = new Uint8Array(size);
  return body.dataStart;
}

/** Names and versions as in plugin.toml, which has the rest. */
export function evalsi_describe(): u64 {
  const out = new Writer().map(1).text("evaluators").array(1);
  out.map(2).text("name").text("sentence-length").text("version").text("1");
  return give(out);
}

/** One outcome for each record. The body is the one that `evalsi_alloc` made room for. */
export function evalsi_score(at: usize, size: i32): u64 {
  const request = new Request();
  const out = new Writer().map(1).text("outcomes").array(request.outputs.length);
  for (let number = 0; number < request.outputs.length; number++) {
    const output = request.outputs[number];
    if (output == null) {
      skipped(out, "the output is no plain text");
      continue;
    }
    const length = sentenceLength(output, request.ends);
    // Nothing to judge is no number: neither 0 nor 1.
    if (isNaN(length)) skipped(out, "the output has no words");
    else scored(out, length);
  }
  return give(out);
}

/** What the host passes: the params, and the output of each record, null where it is messages or JSON. */
class Request {
  ends: string = "";
  outputs: (string | null)[] = [];

  constructor() {
    const reader = new Reader(body);
    for (let left = reader.map(); left > 0; left--) {
      const key = reader.text();
      if (key == "params") this.readParams(reader);
      else if (key == "records") this.readRecords(reader);
      else reader.skip();
    }
  }

  private readParams(reader: Reader): void {
    for (let left = reader.map(); left > 0; left--) {
      if (reader.text() != "ends") {
        reader.skip();
        continue;
      }
      const ends = reader.text();
      if (ends != null) this.ends = ends;
    }
  }

  private readRecords(reader: Reader): void {
    for (let left = reader.array(); left > 0; left--) {
      let output: string | null = null;
      for (let fields = reader.map(); fields > 0; fields--) {
        if (reader.text() == "output") output = reader.text();
        else reader.skip();
      }
      this.outputs.push(output);
    }
  }
}

function scored(out: Writer, value: f64): void {
  out.array(2).text("scored").array(1).map(1).text("value").float(value);
}

function skipped(out: Writer, reason: string): void {
  out.array(2).text("skipped").map(1).text("reason").text(reason);
}

/** Returns where an answer lies and how long it is, in one number. */
function give(out: Writer): u64 {
  answer = out.bytes();
  return ((answer.dataStart as u64) << 32) | (answer.length as u64);
}
