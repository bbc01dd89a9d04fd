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
from evalsi_kernel.runs.progress import Progress

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
def test_s10_a_damaged_byte_loses_its_frame_alone(bodies: list[dict[str, str]], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "events"
        ends = written(path, bodies)
        at = data.draw(st.integers(len(MAGIC), ends[-1] - 1))
        content = bytearray(path.read_bytes())
        content[at] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
        lost = sum(end <= at for end in ends[1:])
        log = EventLog(path)
        left = [body for number, body in enumerate(bodies) if number != lost]
        assert [log.read(offset) for offset, _, _, _ in log.events()] == left
        is_last = lost == len(bodies) - 1
        size = ends[lost + 1] - ends[lost]
        assert (log.damaged, log.dropped_bytes) == (([], size) if is_last else ([(ends[lost], size)], 0))
        log.append(SCORED, 9, {"more": True})
        assert [item for _, _, _, item in log.events()][-1] == 9
        log.close()


@pytest.mark.parametrize("lost", range(6))
def test_s10_an_item_whose_frame_is_damaged_is_done_again_and_no_other(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "events"
    log = EventLog(path)
    offsets = []
    for item in range(3):
        offsets.append(log.append(GENERATED, item, {"output": "a", "calls": 1}))
        offsets.append(log.append(SCORED, item, {"outcomes": {}}))
    log.append(NOTE, 0, {"note": "state", "state": "running"})
    log.close()
    content = bytearray(path.read_bytes())
    content[offsets[lost] + 15] ^= 1
    path.write_bytes(content)
    progress = Progress(EventLog(path), 3)
    to_generate = list(progress.to_generate(range(3), again=False))
    to_score = list(progress.to_score(range(3), again=False))
    assert (to_generate, to_score) == (([lost // 2], []) if lost % 2 == 0 else ([], [lost // 2]))
    assert (progress.done, progress.failed) == (2, 0)
    progress.add_generated(lost // 2, {"output": "b", "calls": 1})
    progress.add_scored(lost // 2, {"outcomes": {}}, failed=False)
    assert progress.done == 3


def test_s10_several_damaged_frames_and_a_torn_end_are_each_told(tmp_path: Path) -> None:
    path = tmp_path / "events"
    ends = written(path, [{"n": str(number) * 50} for number in range(9)])
    content = bytearray(path.read_bytes())
    for lost in (0, 3, 4):
        content[ends[lost]] ^= 0x40  # Its length.
    path.write_bytes(content[:-5])
    log = EventLog(path)
    assert [item for _, _, _, item in log.events()] == [1, 2, 5, 6, 7]
    assert [at for at, _ in log.damaged] == [ends[0], ends[3]]
    assert log.dropped_bytes == ends[9] - ends[8] - 5
    log.close()


def test_s10_a_frame_within_the_text_of_a_damaged_one_is_not_taken_for_one(tmp_path: Path) -> None:
    path = tmp_path / "events"
    inner = tmp_path / "inner"
    written(inner, [{"output": "forged"}])
    log = EventLog(path)
    log.append(GENERATED, 1, inner.read_bytes()[len(MAGIC) :])
    after = log.append(GENERATED, 2, {})
    log.close()
    content = bytearray(path.read_bytes())
    content[len(MAGIC) + 4] ^= 1  # Its checksum.
    path.write_bytes(content)
    log = EventLog(path)
    assert [offset for offset, _, _, _ in log.events()] == [after]
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
