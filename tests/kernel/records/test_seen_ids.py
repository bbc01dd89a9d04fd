"""An id that comes twice is found, exactly, in little memory."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.records import seen_ids
from evalsi_kernel.records.seen_ids import Repeat, SeenIds

BATCHES = st.lists(st.lists(st.sampled_from([*"abcdefgh", *map(str, range(12))]), min_size=1, max_size=5), max_size=8)


def first_repeat(batches: list[list[str]]) -> tuple[int, Repeat] | None:
    """What a set would find: the batch, the position in it, and the row where the id stood first."""
    rows: dict[str, int] = {}
    for number, batch in enumerate(batches):
        for position, record_id in enumerate(batch):
            if record_id in rows:
                return number, Repeat(position, rows[record_id])
            rows[record_id] = len(rows) + 101
    return None


@pytest.mark.parametrize("quick_ids", [0, 3, seen_ids.QUICK_IDS])
@given(batches=BATCHES)
def test_the_first_repeat_is_the_one_that_a_set_finds(quick_ids: int, batches: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seen_ids, "QUICK_IDS", quick_ids)
        seen, row, found = SeenIds(), 101, None
        for number, batch in enumerate(batches):
            repeat = seen.add(batch, range(row, row + len(batch)))
            if repeat is not None:
                found = number, repeat
                break
            row += len(batch)
    assert found == first_repeat(batches)


@pytest.mark.parametrize("quick_ids", [0, seen_ids.QUICK_IDS])
@given(own=st.lists(st.one_of(st.none(), st.sampled_from(["0", "1", "2", "3", "5", "x", "01"])), max_size=9))
def test_positions_as_ids_meet_own_ids_whichever_comes_first(quick_ids: int, own: list[str | None]) -> None:
    ids = [str(position) if record_id is None else record_id for position, record_id in enumerate(own)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seen_ids, "QUICK_IDS", quick_ids)
        seen = SeenIds()
        repeats = []
        for position, record_id in enumerate(own):
            rows = [position + 101]
            repeats.append(seen.add_positions(rows) if record_id is None else seen.add([record_id], rows))
            if repeats[-1]:
                break
    expected = first_repeat([[record_id] for record_id in ids])
    assert [repeat for repeat in repeats if repeat] == ([] if expected is None else [expected[1]])


MILLION = """
from pathlib import Path
from evalsi_kernel.records.seen_ids import SeenIds

def used_kb():  # The most that was ever resident; what getrusage tells begins with the parent's.
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])

before_kb, seen = used_kb(), SeenIds()
for start in range(0, 1_000_000, 1_000):
    rows = range(start, start + 1_000)
    assert ADD is None
print((used_kb() - before_kb) * 1024)
"""


@pytest.mark.parametrize(
    ("add", "most_bytes"),
    [
        pytest.param('seen.add([f"q{row}" for row in rows], rows)', 40_000_000, id="own ids"),
        pytest.param("seen.add_positions(rows)", 16_000_000, id="positions"),
    ],
)
def test_a_million_ids_take_little_memory_also_while_they_come(add: str, most_bytes: int) -> None:
    script = MILLION.replace("ADD", add)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert 0 < int(ran.stdout) < most_bytes


def test_a_repeat_is_found_among_very_many() -> None:
    seen, many = SeenIds(), seen_ids.QUICK_IDS + 1_000
    assert seen.add([f"q{row}" for row in range(many)], range(many)) is None
    assert seen.add(["fresh", "q77777"], [1, 2]) == Repeat(1, 77_777)
