"""A module that stops, hangs, fills its memory or answers nonsense: one clear error for the record at fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalsi_wasm.answers import OF_RECORD, settled
from evalsi_wasm.calls import MAX_STUCK
from evalsi_wasm.module import Limits
from tests.protocol.kernel_end import KernelEnd, texts
from tests.wasm.hosting import LIMITS, WORDS, hosting
from tests.wasm.wat import ANSWER_AT, FOR_EVER, MEMORY_BOMB, PASSED, guest, packed, where

SCORED = ["scored", [{"passed": True}]]
NAN = packed({"outcomes": [["scored", [{"value": float("nan")}]]]})
DIVISION = "(drop (i32.div_u (i32.const 1) (i32.const 0)))"
OUTSIDE = "(drop (i32.load (i32.const -8)))"
DEEP = '(func $deep (export "deep") (param i32 i32) (result i64) (call $deep (local.get 0) (local.get 1)))'
STOPS = {
    "an unreachable": (guest(where("!", "unreachable")), "pack.trap", "it reached code that"),
    "a division": (guest(where("!", DIVISION)), "pack.trap", "it divided by zero"),
    "a load outside": (guest(where("!", OUTSIDE)), "pack.trap", "it reached outside of its memory"),
    "calls without end": (
        guest(where("!", "(drop (call $deep (local.get $ptr) (local.get $len)))"), more=DEEP),
        "pack.trap",
        "its calls nest too deep",
    ),
    "a memory bomb": (
        guest(where("!", MEMORY_BOMB)),
        "pack.out_of_memory",
        "MiB of the 16 it may",
    ),
    "an endless loop": (guest(where("!", FOR_EVER)), "pack.timeout", "took longer than 0.9 s in evalsi_score"),
}
# Decodes what stands between < and > in the body, two digits a byte, and answers with that.
ECHO = guest(
    """(local $out i32)
    (loop $find (if (i32.ne (i32.load8_u (local.get $ptr)) (i32.const 60))
      (then (local.set $ptr (i32.add (local.get $ptr) (i32.const 1))) (br $find))))
    (local.set $ptr (i32.add (local.get $ptr) (i32.const 1)))
    (block $done (loop $next
      (br_if $done (i32.eq (i32.load8_u (local.get $ptr)) (i32.const 62)))
      (i32.store8 (i32.add (i32.const 131072) (local.get $out)) (i32.add
        (i32.shl (call $digit (i32.load8_u (local.get $ptr))) (i32.const 4))
        (call $digit (i32.load8_u (i32.add (local.get $ptr) (i32.const 1))))))
      (local.set $out (i32.add (local.get $out) (i32.const 1)))
      (local.set $ptr (i32.add (local.get $ptr) (i32.const 2)))
      (br $next)))
    (return (i64.or (i64.const 562949953421312) (i64.extend_i32_u (local.get $out))))""",
    more="""(func $digit (param $of i32) (result i32) (if (result i32) (i32.lt_u (local.get $of) (i32.const 58))
      (then (i32.sub (local.get $of) (i32.const 48))) (else (i32.sub (local.get $of) (i32.const 87)))))""",
)
ANSWERS = {
    "no MessagePack": (b"\xc1", "pack.bad_answer", "cannot be read"),
    "half of it": (packed(PASSED)[:-3], "pack.bad_answer", "cannot be read"),
    "too much of it": (packed(PASSED) + b"\xc0", "pack.bad_answer", "cannot be read"),
    "no map": (packed([1]), "pack.bad_answer", "cannot be read: it is not a map"),
    "an extension": (packed({"outcomes": msgpack.ExtType(5, b"x")}), "pack.bad_answer", "extension type 5"),
    "a key that is no text": (packed({1: 2}), "pack.bad_answer", "cannot be read"),
    "no outcomes": (packed({}), "pack.bad_answer", "has no list outcomes"),
    "outcomes of nobody": (packed({"outcomes": [SCORED] * 2}), "pack.bad_answer", "has 2 outcomes for 1 records"),
    "an outcome of no form": (packed({"outcomes": [[1, 0, "scored", []]]}), "pack.bad_answer", "not [kind, payload]"),
    "an unknown outcome": (packed({"outcomes": [["great", {}]]}), "pack.bad_answer", "has the outcome 'great'"),
    "a state of a record": (packed({"outcomes": [["state", {"state": 1}]]}), "pack.bad_answer", "outcome 'state'"),
    "a NaN": (NAN, "pack.bad_score", "value is nan, which is no finite number"),
    "a score of two kinds": (
        packed({"outcomes": [["scored", [{"value": 1, "passed": True}]]]}),
        "pack.bad_score",
        "not exactly one of value, passed and label",
    ),
    "no score": (packed({"outcomes": [["scored", []]]}), "pack.bad_score", "not a list of one score or more"),
    "bytes beside a score": (
        packed({"outcomes": [["scored", [{"passed": True, "metadata": {"raw": b"x"}}]]]}),
        "pack.bad_score",
        "cannot be encoded",
    ),
    "an error of its own": (
        packed({"error": {"code": "acme.dictionary", "message": "No dictionary.", "hint": "Add one."}}),
        "acme.dictionary",
        "No dictionary.",
    ),
    "an empty answer": (b"", "pack.bad_answer", "The module's answer is empty."),
}


def errors_of(kernel: KernelEnd, *outputs: str, record_timeout_s: float = 1.0) -> dict[int, dict[str, Any]]:
    """What the records got that were not scored, by their place; the others must all be scored."""
    kernel.open(1, "tested", record_timeout_s=record_timeout_s)
    answer, items = kernel.score(texts(*outputs))
    errors = {index: payload for _, index, outcome, payload in items if outcome == "error"}
    scored = len(outputs) - len(errors)
    assert answer == {"outcomes": {"error": len(errors)} | ({"scored": scored} if scored else {})}
    assert len({index for _, index, _, _ in items}) == len(outputs)
    return errors


@pytest.mark.abi("WAB-11", "WAB-17", "WAB-18")
@pytest.mark.parametrize(("code", "error_code", "told"), STOPS.values(), ids=STOPS)
def test_what_stops_a_module_costs_the_record_at_fault_only(
    code: bytes, error_code: str, told: str, tmp_path: Path
) -> None:
    with hosting(code, tmp_path) as kernel:
        errors = errors_of(kernel, "a", "b", "c!", "d", "e")
    assert list(errors) == [2]
    assert errors[2]["code"] == error_code
    assert told in errors[2]["message"]
    assert errors[2]["hint"]


@pytest.mark.abi("WAB-8", "WAB-10", "WAB-13")
@pytest.mark.parametrize(("answer", "error_code", "told"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_cannot_be_taken_is_one_error(answer: bytes, error_code: str, told: str, tmp_path: Path) -> None:
    with hosting(guest(answer=answer), tmp_path) as kernel:
        errors = errors_of(kernel, "a", "b")
    assert [errors[0]["code"], errors[1]["code"]] == [error_code, error_code]
    assert told in errors[0]["message"]
    assert "\n" not in errors[0]["message"]


@pytest.mark.abi("WAB-20")
@pytest.mark.parametrize(
    ("place", "length", "told"),
    [
        (ANSWER_AT, 33 * 1024**2, "of 34,603,008 bytes is over the limit"),
        (ANSWER_AT, 1024**2, "lies outside of its memory"),
        (2**32 - 16, 64, "lies outside of its memory"),
        (2**32 - 1, 2**32 - 1, "is over the limit"),
    ],
)
def test_an_answer_that_is_too_much_is_an_error(place: int, length: int, told: str, tmp_path: Path) -> None:
    with hosting(guest(f"(return (i64.const {place << 32 | length}))"), tmp_path) as kernel:
        assert told in errors_of(kernel, "a")[0]["message"]


@pytest.mark.abi("WAB-6", "WAB-18")
@pytest.mark.parametrize(
    ("room", "code", "told"),
    [
        ("(i32.const 0)", "pack.out_of_memory", "has no room for 69 bytes"),
        ("(i32.const -64)", "pack.bad_answer", "to evalsi_alloc lies outside of its memory"),
        ("(i32.const 262140)", "pack.bad_answer", "to evalsi_alloc lies outside of its memory"),
        ("unreachable", "pack.trap", "stopped in evalsi_alloc"),
    ],
)
def test_room_that_is_none_is_an_error(room: str, code: str, told: str, tmp_path: Path) -> None:
    with hosting(guest(room=room), tmp_path) as kernel:
        error = errors_of(kernel, "a" * 20)[0]
    assert error["code"] == code
    assert told in error["message"]


@pytest.mark.abi("WAB-19")
def test_steps_are_counted_where_the_pack_says_how_many(tmp_path: Path) -> None:
    limits = LIMITS._replace(fuel_per_record=100_000)
    with hosting(guest(where("!", FOR_EVER)), tmp_path, limits) as kernel:
        errors = errors_of(kernel, "a", "b!", "c", record_timeout_s=60)
    assert list(errors) == [1]
    assert errors[1]["code"] == "pack.out_of_fuel"
    assert errors[1]["message"] == "The module took more than 100,000 steps in evalsi_score."


@pytest.mark.abi("WAB-17")
def test_a_module_that_hangs_again_and_again_is_not_asked_any_more(tmp_path: Path) -> None:
    outputs = ["!"] * (MAX_STUCK + 20)
    with hosting(guest(where("!", FOR_EVER)), tmp_path) as kernel:
        errors = errors_of(kernel, *outputs, record_timeout_s=0.02)
    assert {error["code"] for error in errors.values()} == {"pack.timeout"}
    told = [error["message"] for error in errors.values()]
    assert sum("took longer than" in one for one in told) == MAX_STUCK
    assert told[-1] == f"{MAX_STUCK} records took the module too long, and it is not asked any more."


@pytest.mark.abi("WAB-9")
def test_a_module_without_faults_gives_the_same_in_any_company(tmp_path: Path) -> None:
    outputs = ["word " * (number % 7) for number in range(600)]
    with hosting(WORDS, tmp_path, Limits(64 * 1024**2)) as kernel:
        kernel.open(1, "word-count")
        together = kernel.score(texts(*outputs))[1]
        alone = [kernel.score(texts(output))[1][0][3] for output in outputs[:7]]
    assert [payload[0]["value"] for _, _, _, payload in together] == [number % 7 for number in range(600)]
    assert alone == [payload for _, _, _, payload in together[:7]]


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[KernelEnd]:
    """A module that answers with the bytes that its record holds in hexadecimal, between < and >."""
    with hosting(ECHO, tmp_path) as kernel:
        kernel.open(1, "tested")
        yield kernel


def test_a_module_sees_the_id_in_the_data_and_each_trial_keeps_an_outcome_of_its_own(shared: KernelEnd) -> None:
    answers = [packed({"outcomes": [["scored", [{"value": value}]]]}).hex() for value in (1.0, 2.0)]
    # The first `<` in what the module gets is in the id, whichever of the two that is.
    records = [
        {"id": f"of trial {trial}", "record_id": f"<{answer}>", "output": "x"}
        for trial, answer in enumerate(answers, 1)
    ] + [{"id": f"<{answers[0]}>#{trial}", "record_id": f"<{answers[1]}>", "output": "x"} for trial in (1, 2)]
    _, items = shared.score(records)
    assert [payload for *_, payload in sorted(items, key=lambda item: item[1])] == [
        [{"value": value}] for value in (1.0, 2.0, 2.0, 2.0)
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer=st.binary(min_size=1, max_size=200))
def test_no_bytes_that_a_module_answers_break_the_host(answer: bytes, shared: KernelEnd) -> None:
    # The length of a text stands before it, and one of 60 bytes would be taken for the sign.
    record = {"id": "0", "output": f"<{answer.hex()}>" + " " * 61}
    reply, items = shared.score([record])
    assert isinstance(reply, dict)
    assert [(item[1], item[2]) for item in items] == [(0, "error")]
    assert items[0][3]["code"] in {"pack.bad_answer", "pack.failed"}


@given(
    outcome=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats()
        | st.text(max_size=5)
        | st.binary(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["value", "name"]), inner, max_size=2)
        ),
        max_leaves=8,
    )
)
def test_whatever_stands_for_an_outcome_becomes_one_that_can_be_sent(outcome: Any) -> None:
    for candidate in (outcome, ["scored", outcome], ["scored", [outcome]], ["skipped", outcome], ["error", outcome]):
        kind, payload = settled(candidate, OF_RECORD)
        assert kind in OF_RECORD
        assert msgpack.packb(payload)


def test_e8_a_score_of_a_module_that_is_nan_costs_its_own_metric_only() -> None:
    kind, scores = settled(["scored", [{"name": "a", "value": 1.0}, {"name": "b", "value": float("nan")}]], OF_RECORD)
    assert (kind, scores[0]) == ("scored", {"name": "a", "value": 1.0})
    assert (scores[1]["name"], scores[1]["error"]["code"]) == ("b", "pack.bad_score")
