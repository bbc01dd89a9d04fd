"""A pack that is a component: one function, texts in JSON, nothing imported, and the same bounds as for any module."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.protocol.kernel_end import texts
from tests.wasm.hosting import LIMITS, hosting, running, served
from tests.wasm.wat import FOR_EVER, component, wat, where

BAD_ANSWERS = {
    "no JSON": ("{outcomes", "cannot be read: it is no JSON"),
    "NaN": ('{"outcomes": [["scored", [{"value": NaN}]]]}', "cannot be read: it is no JSON (NaN is not JSON)"),
    "half a character": ('{"outcomes": "\\ud800"}', "cannot be read: A value cannot be encoded"),
    "a number beyond 64 bits": ('{"outcomes": 123456789012345678901234567890}', "cannot be read: A value cannot"),
    "no map": ("[1]", "cannot be read: it is not a map"),
    "too deep": ("[" * 100_000, "cannot be read: it is no JSON"),
}
STOPS = {
    "an endless loop": (FOR_EVER, "pack.timeout", "took longer than 0.9 s in score"),
    "an unreachable": ("unreachable", "pack.trap", "stopped in score: it reached code"),
    "a division": ("(drop (i32.div_u (i32.const 1) (i32.const 0)))", "pack.trap", "it divided by zero"),
    "a load outside": (
        "(drop (i32.load (i32.const -8)))",
        "pack.trap",
        "stopped in score: memory fault at wasm address",
    ),
}


@pytest.mark.abi("WAB-22")
def test_a_component_scores_and_conforms_to_what_a_module_does(tmp_path: Path) -> None:
    with hosting(component(), tmp_path) as kernel:
        kernel.open(1, "tested")
        answer, items = kernel.score([*texts("a", "Grüße 👋"), {"id": "bare"}])
    assert answer == {"outcomes": {"scored": 2, "skipped": 1}}
    assert sorted(item[1] for item in items if item[2] == "scored") == [0, 1]


@pytest.mark.abi("WAB-11", "WAB-17", "WAB-22")
@pytest.mark.parametrize(("call", "code", "told"), STOPS.values(), ids=STOPS)
def test_what_stops_a_component_costs_the_record_at_fault_only(call: str, code: str, told: str, tmp_path: Path) -> None:
    with hosting(component(call=where("!", call)), tmp_path) as kernel:
        kernel.open(1, "tested", record_timeout_s=1)
        answer, items = kernel.score(texts("a", "b", "c!", "d"))
    assert answer == {"outcomes": {"scored": 3, "error": 1}}
    (error,) = [payload for _, index, outcome, payload in items if outcome == "error" and index == 2]
    assert error["code"] == code
    assert told in error["message"]


@pytest.mark.abi("WAB-19", "WAB-22")
def test_steps_of_a_component_are_counted_too(tmp_path: Path) -> None:
    with hosting(component(call=FOR_EVER), tmp_path, LIMITS._replace(fuel_per_record=100_000)) as kernel:
        kernel.open(1, "tested")
        assert kernel.score(texts("a"))[1][0][3]["message"] == "The module took more than 100,000 steps in score."


@pytest.mark.abi("WAB-22")
@pytest.mark.parametrize(("answer", "told"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_a_text_that_is_no_answer_is_one_error(answer: str, told: str, tmp_path: Path) -> None:
    with hosting(component(answer[:50_000]), tmp_path) as kernel:
        kernel.open(1, "tested")
        error = kernel.score(texts("a"))[1][0][3]
    assert error["code"] == "pack.bad_answer"
    assert told in error["message"]


@pytest.mark.abi("WAB-22")
@pytest.mark.parametrize(
    ("code", "told"),
    [
        (component(kind="(list u8)"), "exports no call: func(name: string, body: string) -> string"),
        (
            wat('(component (import "wasi:clocks/now" (func)))'),
            "imports wasi:clocks/now, and a component is given nothing",
        ),
        (component()[:200], "cannot be compiled: "),
    ],
)
def test_a_component_that_cannot_be_run_says_why(code: bytes, told: str, tmp_path: Path) -> None:
    fault = served(code, tmp_path).fault
    assert fault is not None
    assert told in fault.message
    assert fault.code == "pack.import"


def test_a_component_is_kept_compiled(tmp_path: Path) -> None:
    (tmp_path / "component.wasm").write_bytes(component())
    for _ in range(2):
        with running(tmp_path / "component.wasm", f"--cache={tmp_path / 'wasm'}") as (kernel, _):
            kernel.hello()
            kernel.open(1, "tested")
            assert kernel.score(texts("a"))[0] == {"outcomes": {"scored": 1}}
    assert [path.suffix for path in (tmp_path / "wasm").iterdir()] == [".cwasm"]
