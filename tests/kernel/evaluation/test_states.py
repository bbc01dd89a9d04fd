"""The states of a dataset-scope evaluator wait on disk and come back in order."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from evalsi_kernel.errors import OutputError
from evalsi_kernel.evaluation.states import BYTES_IN_A_PART, STATES_IN_A_PART, States
from tests.kernel.data_path import failed, skipped


def test_states_come_back_in_the_order_of_the_records_without_what_is_no_state() -> None:
    states = States()
    states.add([("state", {"state": [1, 0.5]}), skipped(), ("state", {"state": None}), None, failed()])
    states.add([("state", {"state": {"a": "é"}})])
    assert states.count == 3
    assert list(states.parts()) == [[[1, 0.5], None, {"a": "é"}]]
    states.close()


def test_no_state_gives_one_empty_part() -> None:
    assert list(States().parts()) == [[]]


def test_many_states_come_in_parts() -> None:
    states = States()
    states.add([("state", {"state": number}) for number in range(2 * STATES_IN_A_PART + 1)])
    parts = list(states.parts())
    assert [len(part) for part in parts] == [STATES_IN_A_PART, STATES_IN_A_PART, 1]
    assert [state for part in parts for state in part] == list(range(2 * STATES_IN_A_PART + 1))


def test_large_states_come_in_parts_that_a_frame_can_carry() -> None:
    states = States()
    large = "x" * (BYTES_IN_A_PART // 4)
    states.add([("state", {"state": large})] * 9)
    assert [len(part) for part in states.parts()] == [4, 4, 1]


def test_nothing_is_left_in_the_folder_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    states = States()
    states.add([("state", {"state": 1})])
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error_that_names_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    states = States()
    full = Path("/dev/full").open("wb", buffering=0)  # noqa: SIM115
    monkeypatch.setattr(states, "_file", full)
    with pytest.raises(OutputError, match="No space left on device") as caught:
        states.add([("state", {"state": 1})])
    assert tempfile.gettempdir() in caught.value.message
    states.close()
