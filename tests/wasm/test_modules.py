"""What a module must be before it is asked anything: whatever is wrong with it, hello says so in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalsi_protocol.errors import WireError
from evalsi_wasm.module import Limits
from tests.wasm.hosting import WORDS, hosting, running, served
from tests.wasm.wat import EVALUATOR, FOR_EVER, JUDGING, guest, packed, wat

NO_START = "(func $start {}) (start $start)"
BAD = {
    "an empty file": (b"", "tested.wasm is empty."),
    "a text": (b"print('hello')\n", "tested.wasm is no WebAssembly module."),
    "another version of WebAssembly": (b"\0asm\2\0\0\0", "is of another version of WebAssembly"),
    "a component of nothing": (b"\0asm\x0d\0\1\0", "exports no call: func(name: string, body: string) -> string"),
    "a cut off module": (guest()[:60], "cannot be compiled: "),
    "no exports": (wat("(module)"), "exports no memory; exports no evalsi_alloc; exports no evalsi_abi"),
    "another signature": (
        guest(abi='(func (export "evalsi_abi") (param i64) (result i32) (i32.const 1))'),
        "exports evalsi_abi as (i64) -> (i32), not as () -> (i32)",
    ),
    "a memory that is none": (
        guest(memory='(memory 4) (global (export "memory") i32 (i32.const 0))'),
        "exports a memory that is none",
    ),
    "half of a judge": (
        guest(more='(func (export "evalsi_plan") (param i32 i32) (result i64) (i64.const 0))'),
        "exports only one of evalsi_plan and evalsi_reduce",
    ),
    "a newer ABI": (
        guest(abi='(func (export "evalsi_abi") (result i32) (i32.const 2))'),
        "speaks version 2 of the ABI, and this host version 1. Upgrade evalsi-wasm.",
    ),
    "an older ABI": (guest(abi='(func (export "evalsi_abi") (result i32) (i32.const 0))'), "Build the module for"),
    "an import of another host": (
        guest(before='(import "env" "abort" (func (param i32)))'),
        "imports env.abort, and a host gives evalsi.log and an empty wasi_snapshot_preview1 only",
    ),
    "threads": (wat('(module (memory (export "memory") 1 1 shared))'), "cannot be compiled: "),
    "a start that traps": (guest(more=NO_START.format("unreachable")), "does not start: The module stopped"),
    "a preparation that traps": (
        guest(more='(func (export "_initialize") unreachable)'),
        "does not start: The module stopped in _initialize",
    ),
    "more memory than it may have": (guest(memory='(memory (export "memory") 1000)'), "does not start: "),
    "a description that is no map": (guest(description=[]), "does not describe itself: The module's answer cannot"),
    "no evaluator": (guest(description={"evaluators": []}), "describes no evaluator"),
    "a nameless evaluator": (guest(description={"evaluators": [{"version": "1"}]}), "so that it has no name"),
    "two of one name": (guest(description={"evaluators": [EVALUATOR] * 2}), "so that it has the name of another"),
    "params without a schema": (
        guest(description={"evaluators": [EVALUATOR | {"params": {"type": "array"}}]}),
        'so that it has params.type that must be "object"',
    ),
    "a capability that no module has": (
        guest(description={"evaluators": [EVALUATOR | {"asks": ["embed"]}]}),
        "asks for more than a judge",
    ),
    "a judge without a plan": (guest(description={"evaluators": [JUDGING]}), "needs the export evalsi_plan"),
    "the whole data without an aggregate": (
        guest(description={"evaluators": [EVALUATOR | {"scope": "dataset"}]}),
        "needs the export evalsi_aggregate",
    ),
    "another scope": (guest(description={"evaluators": [EVALUATOR | {"scope": "row"}]}), "has the scope 'row'"),
}


@pytest.mark.abi("WAB-1", "WAB-2", "WAB-3", "WAB-4", "WAB-5", "WAB-12", "WAB-21")
@pytest.mark.parametrize(("code", "told"), BAD.values(), ids=BAD)
def test_a_module_that_cannot_be_run_says_why_in_one_error(code: bytes, told: str, tmp_path: Path) -> None:
    fault = served(code, tmp_path).fault
    assert fault is not None
    assert told in f"{fault.message} {fault.hint}"
    assert (fault.code, fault.source) == ("pack.import", "pack")
    assert fault.hint
    assert "\n" not in fault.message


def test_a_module_that_is_not_there_says_so(tmp_path: Path) -> None:
    fault = served(tmp_path / "gone.wasm", tmp_path).fault
    assert fault is not None
    assert "gone.wasm cannot be read: No such file or directory." in fault.message


def test_a_module_that_never_starts_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalsi_wasm.guest.START_S", 0.05)
    fault = served(guest(more=NO_START.format(FOR_EVER)), tmp_path).fault
    assert fault is not None
    assert "does not start: The module took longer than 0.05 s" in fault.message


@pytest.mark.abi("WAB-12")
def test_what_a_description_leaves_out_has_a_default(tmp_path: Path) -> None:
    with hosting(guest(description={"evaluators": [{"name": "bare", "version": "1"}]}), tmp_path) as kernel:
        answer = kernel.ask("describe", {})
    assert isinstance(answer, dict)
    assert answer["evaluators"] == [
        {
            "name": "bare",
            "version": "1",
            "summary": "",
            "scope": "record",
            "needs": [],
            "asks": [],
            "outputs": [],
            "params": {},
        }
    ]


@pytest.mark.abi("WAB-12")
def test_what_a_description_leaves_out_is_as_in_the_manifest(tmp_path: Path) -> None:
    described = {"evaluators": [{"name": "told", "version": "1", "summary": "The module's own."}]}
    (tmp_path / "plugin.toml").write_text(
        '[[evaluators]]\nname = "told"\nversion = "1"\nsummary = "The manifest\'s."\nneeds = ["output"]\n'
    )
    path = tmp_path / "tested.wasm"
    path.write_bytes(guest(description=described))
    with hosting(path, tmp_path) as kernel:
        answer = kernel.ask("describe", {})
    assert isinstance(answer, dict)
    (table,) = answer["evaluators"]
    assert (table["summary"], table["needs"], table["asks"]) == ("The module's own.", ["output"], [])


def test_a_manifest_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    for text in ("no toml", "", "evaluators = 7"):
        (tmp_path / "plugin.toml").write_text(text)
        (tmp_path / "tested.wasm").write_bytes(guest())
        fault = served(tmp_path / "tested.wasm", tmp_path).fault
        assert fault is not None
        assert fault.message.startswith("plugin.toml cannot be read: ")


@pytest.mark.abi("WAB-5")
def test_a_module_may_prepare_itself(tmp_path: Path) -> None:
    prepared = guest(
        f"(if (i32.eqz (i32.load (i32.const 0))) (then {FOR_EVER}))",
        more='(func (export "_initialize") (i32.store (i32.const 0) (i32.const 1)))',
    )
    with hosting(prepared, tmp_path) as kernel:
        kernel.open(1, "tested")
        assert kernel.score([{"id": "0", "output": "x"}])[0] == {"outcomes": {"scored": 1}}


def test_the_process_refuses_hello_for_a_bad_module_and_ends(tmp_path: Path) -> None:
    (tmp_path / "bad.wasm").write_bytes(b"")
    with running(tmp_path / "bad.wasm") as (kernel, process):
        refusal = kernel.hello()
        assert isinstance(refusal, WireError)
        assert (refusal.code, refusal.message) == ("pack.import", "bad.wasm is empty.")
        assert process.wait(60) == 0


def test_a_module_of_fuel_and_one_without_are_compiled_apart(tmp_path: Path) -> None:
    for fuel in (0, 10_000_000):
        one = served(WORDS, tmp_path, Limits(16 * 1024**2, fuel))
        assert one.fault is None
        assert one.calls is not None
        one.calls.close()


def test_a_description_of_garbage_is_refused_whatever_it_is(tmp_path: Path) -> None:
    for description in ({"evaluators": [7]}, {"evaluators": 7}, {}, {"error": {"code": "own.fault", "message": "no."}}):
        fault = served(guest(description=description), tmp_path).fault
        assert fault is not None
        assert fault.code == "pack.import"
    assert packed({}) == b"\x80"
