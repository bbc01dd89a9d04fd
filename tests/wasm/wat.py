"""Small modules in WebAssembly's text form, each with one thing wrong with it, as bytes.

It must not know how a module is run.
"""

from __future__ import annotations

from typing import Any

import msgpack
from wasmtime import wat2wasm

ANSWER_AT = 4096
ROOM_AT = 65536
PASSED: dict[str, Any] = {"outcomes": [["scored", [{"passed": True}]]]}
EVALUATOR: dict[str, Any] = {"name": "tested", "version": "1", "needs": ["output"]}
JUDGING: dict[str, Any] = EVALUATOR | {"asks": ["judge"]}


def wat(text: str) -> bytes:
    """A module from its text."""
    return bytes(wat2wasm(text))


def packed(value: Any) -> bytes:
    data: bytes = msgpack.packb(value)
    return data


def guest(
    score: str = "",
    *,
    answer: bytes = packed(PASSED),
    description: Any = None,
    abi: str = '(func (export "evalsi_abi") (result i32) (i32.const 1))',
    memory: str = '(memory (export "memory") 4)',
    room: str = f"(i32.const {ROOM_AT})",
    before: str = "",
    more: str = "",
) -> bytes:
    """A module that gives one answer to everything, but for what is changed.

    Args:
        score: what `evalsi_score` does before it answers; it has the locals $ptr, $len and $i.
        answer: its bytes, for whatever it is asked.
        description: what it describes; one evaluator by default.
        abi: the export of its version.
        memory: its memory.
        room: what `evalsi_alloc` gives.
        before: imports.
        more: other exports.
    """
    described = packed({"evaluators": [EVALUATOR]} if description is None else description)
    assert len(described) < ANSWER_AT - 16
    return wat(f"""(module {before} {memory}
        (data (i32.const 16) "{_escaped(described)}") (data (i32.const {ANSWER_AT}) "{_escaped(answer)}")
        {abi}
        (func (export "evalsi_alloc") (param i32) (result i32) {room})
        (func (export "evalsi_describe") (result i64) (i64.const {16 << 32 | len(described)}))
        (func $score (export "evalsi_score") (param $ptr i32) (param $len i32) (result i64) (local $i i32)
          {score} (i64.const {ANSWER_AT << 32 | len(answer)}))
        {more})""")


def where(marker: str, then: str) -> str:
    """Does something when the body holds a character."""
    return f"""(block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $len)))
      (if (i32.eq (i32.load8_u (i32.add (local.get $ptr) (local.get $i))) (i32.const {ord(marker)})) (then {then}))
      (local.set $i (i32.add (local.get $i) (i32.const 1))) (br $next)))"""


def component(
    answer: str = '{"outcomes": [["scored", [{"passed": true}]]]}', *, call: str = "", kind: str = "string"
) -> bytes:
    """A component that gives one answer to everything but `describe`.

    Args:
        answer: as text.
        call: what it does before it answers to anything else.
        kind: the type of its second param.
    """
    described = '{"evaluators": [{"name": "tested", "version": "1", "needs": ["output"]}]}'
    return wat(f"""(component
      (core module $code
        (memory (export "memory") 4)
        (global $top (mut i32) (i32.const {ROOM_AT}))
        (data (i32.const 16) "{_escaped(described.encode())}")
        (data (i32.const {ANSWER_AT}) "{_escaped(answer.encode())}")
        (func (export "realloc") (param i32 i32 i32 i32) (result i32)
          (global.get $top) (global.set $top (i32.add (global.get $top) (local.get 3))))
        (func (export "call") (param $name i32) (param i32) (param $ptr i32) (param $len i32) (result i32)
          (local $i i32)
          (i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const {len(described)}))
          (if (i32.ne (i32.load8_u (local.get $name)) (i32.const {ord("d")})) (then
            {call}
            (i32.store (i32.const 0) (i32.const {ANSWER_AT}))
            (i32.store (i32.const 4) (i32.const {len(answer.encode())}))))
          (global.set $top (i32.const {ROOM_AT}))
          (i32.const 0)))
      (core instance $code (instantiate $code))
      (func (export "call") (param "name" string) (param "body" {kind}) (result string)
        (canon lift (core func $code "call") (memory (core memory $code "memory"))
          (realloc (core func $code "realloc")))))""")


FOR_EVER = "(loop $for_ever (br $for_ever))"
MEMORY_BOMB = """(loop $grow (if (i32.ne (memory.grow (i32.const 16)) (i32.const -1)) (then (br $grow))
  (else unreachable)))"""


def _escaped(data: bytes) -> str:
    return "".join(f"\\{byte:02x}" for byte in data)
