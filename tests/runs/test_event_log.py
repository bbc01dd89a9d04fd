"""The log of a run: whatever ends the process or damages the file's end, what was appended before it stands."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.errors import ConfigError, OutputError
from evalsi_kernel.runs.event_log import GENERATED, MAGIC, NOTE, SCORED, EventLog

Bodies = st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), min_size=1, max_size=8)


def written(path: Path, bodies: list[dict[str, str]]) -> list[int]:
    log = EventLog(path)
    offsets = [log.append(GENERATED, item, body) for item, body in enumerate(bodies)]
    log.close()
    return [*offsets, path.stat().st_size]


@given(Bodies, st.data())
def test_a_log_cut_anywhere_holds_every_whole_frame_and_takes_more(
    bodies: list[dict[str, str]], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "events"
        ends = written(path, bodies)
        cut = data.draw(st.integers(0, ends[-1]))
        os.truncate(path, cut)
        whole = sum(end <= cut for end in ends[1:])
        log = EventLog(path)
        assert [log.read(offset) for offset, _, _, _ in log.events()] == bodies[:whole]
        log.append(SCORED, 9, {"more": True})
        assert [item for _, _, _, item in log.events()] == [*range(whole), 9]
        log.close()


@given(Bodies, st.data())
def test_a_damaged_byte_ends_the_log_before_its_frame(bodies: list[dict[str, str]], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "events"
        ends = written(path, bodies)
        at = data.draw(st.integers(len(MAGIC), ends[-1] - 1))
        content = bytearray(path.read_bytes())
        content[at] ^= 0xFF
        path.write_bytes(content)
        log = EventLog(path)
        assert [log.read(offset) for offset, _, _, _ in log.events()] == bodies[: sum(end <= at for end in ends[1:])]
        log.close()


def test_kind_item_and_failure_are_known_without_reading_a_body(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events")
    log.append(NOTE, 0, {"note": "run"})
    log.append(GENERATED, 7, {"error": {}}, failed=True)
    assert [(kind, item, failed) for _, kind, failed, item in log.events()] == [
        (NOTE, 0, False),
        (GENERATED, 7, True),
    ]
    log.close()


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "events"
    path.write_text("something that is no log of a run")
    with pytest.raises(ConfigError, match="no log of a run"):
        EventLog(path)


def test_a_full_disk_is_told_and_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events")
    log.append(GENERATED, 0, {"output": "a"})
    full = EventLog(tmp_path / "events")
    list(full.events())
    os.dup2(os.open("/dev/full", os.O_RDWR), full._file)
    with pytest.raises(OutputError, match="cannot be written"):
        full.append(GENERATED, 1, {"output": "b"})
    assert [item for _, _, _, item in log.events()] == [0]
