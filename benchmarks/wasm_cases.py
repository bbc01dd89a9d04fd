"""The cases of Wasm packs: records a second through a module, beside a Python pack that does the same.

Both are one process, driven as the kernel drives it. It must not know a budget of another case.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from wasmtime import wat2wasm

from benchmarks.protocol_throughput import Pair, batches, records, seconds
from benchmarks.rows import Bench, Row
from evalsi_protocol.frames import pack
from evalsi_protocol.greeting import kernel_hello
from evalsi_protocol.methods import ITEM_RUNS

RECORDS = 50_000
WORDS = Path(__file__).parents[1] / "examples" / "wasm" / "words" / "words.wasm"
PYTHON = """
from evalsi import evaluator

@evaluator(name="noop", version=1, needs=("output",))
def noop(record):
    return True

@evaluator(name="word-count", version=1, needs=("output",))
def word_count(record):
    return float(len(record.output_text.split()))
"""
DESCRIPTION = pack({"evaluators": [{"name": "noop", "version": "1", "needs": ["output"]}]})
PASSED = pack(["scored", [{"passed": True}]])
HEAD = b"\x81" + pack("outcomes") + b"\xdd"
# Where the number of records stands in each body, which begins with the same bytes each time.
COUNT_AT = len(b"\x83" + pack("evaluator") + pack("noop") + pack("params") + pack({}) + pack("records"))
NOOP = """(module (memory (export "memory") 64)
  (data (i32.const 16) "{description}") (data (i32.const 512) "{passed}") (data (i32.const 1024) "{head}")
  (func (export "evalsi_abi") (result i32) (i32.const 1))
  (func (export "evalsi_alloc") (param i32) (result i32) (i32.const 65536))
  (func (export "evalsi_describe") (result i64) (i64.const {described}))
  (func (export "evalsi_score") (param $at i32) (param $size i32) (result i64) (local $end i32) (local $left i32)
    (local.set $at (i32.add (local.get $at) (i32.const {count_at})))
    (local.set $left (if (result i32) (i32.eq (i32.load8_u (local.get $at)) (i32.const 0xdc))
      (then (i32.or (i32.shl (i32.load8_u offset=1 (local.get $at)) (i32.const 8))
        (i32.load8_u offset=2 (local.get $at))))
      (else (i32.and (i32.load8_u (local.get $at)) (i32.const 15)))))
    (i32.store8 (i32.const {count_high}) (i32.shr_u (local.get $left) (i32.const 8)))
    (i32.store8 (i32.const {count_low}) (local.get $left))
    (local.set $end (i32.const {first}))
    (loop $each (if (local.get $left) (then
      (memory.copy (local.get $end) (i32.const 512) (i32.const {size}))
      (local.set $end (i32.add (local.get $end) (i32.const {size})))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br $each))))
    (i64.or (i64.const {answer_at}) (i64.extend_i32_u (i32.sub (local.get $end) (i32.const 1024))))))"""


def throughput(bench: Bench) -> Iterator[Row]:
    """A no-op, and the count of words, through a module and through a Python pack."""
    python = bench.folder / "wasm_beside.py"
    python.write_text(PYTHON)
    module = bench.folder / "noop.wasm"
    module.write_bytes(noop())
    encoded = [pack(wire) for wire in records(RECORDS)]
    arrays = batches(encoded)
    size = f"{len(encoded[0]):,} B"
    for evaluator, wasm, budget in (("noop", module, 0.3), ("word-count", WORDS, 0.3)):
        ours, theirs = [], []
        pairs = [
            opened(
                ["-I", "-m", "evalsi_wasm.runner", f"--module={wasm}", f"--cache={bench.folder / 'wasm'}"], evaluator
            ),
            opened(["-m", "evalsi.serving", "--file", str(python)], evaluator),
        ]
        for pair in pairs:
            pair.score([1], iter(arrays[: len(arrays) // 10 + 1]))  # Warm.
        for _ in range(bench.rounds):
            ours.append(seconds(partial(pairs[0].score, [1], iter(arrays))))
            theirs.append(seconds(partial(pairs[1].score, [1], iter(arrays))))
        for pair in pairs:
            pair.close()
        count = sum(map(len, arrays)) / len(encoded[0])
        ratio = median(theirs) / median(ours)
        yield Row(
            f"{evaluator} of records of {size} through a Wasm module",
            f"{count / median(ours):,.0f} records/s",
            f"{count / median(theirs):,.0f} records/s (Python pack)",
            f"{ratio:.2f} ×",
            f"≥ {budget} ×",
            ratio >= budget,
        )


def opened(words: list[str], evaluator: str) -> Pair:
    """A pack's process, greeted, with the evaluator open."""
    pair = Pair([sys.executable, *words])
    pair.ask("hello", kernel_hello("benchmark", "0", [ITEM_RUNS]))
    pair.ask("open", {"session": 1, "evaluator": evaluator, "params": {}})
    return pair


def noop() -> bytes:
    """A module that looks at no record and passes each."""
    given: dict[str, Any] = {
        "description": escaped(DESCRIPTION),
        "passed": escaped(PASSED),
        "head": escaped(HEAD + bytes(4)),
        "described": 16 << 32 | len(DESCRIPTION),
        "count_at": COUNT_AT,
        "count_high": 1024 + len(HEAD) + 2,
        "count_low": 1024 + len(HEAD) + 3,
        "first": 1024 + len(HEAD) + 4,
        "size": len(PASSED),
        "answer_at": 1024 << 32,
    }
    return bytes(wat2wasm(NOOP.format(**given)))


def escaped(data: bytes) -> str:
    """Bytes as WebAssembly's text form writes them."""
    return "".join(f"\\{byte:02x}" for byte in data)


WASM_CASES: dict[str, Callable[[Bench], Iterator[Row]]] = {"wasm": throughput}
