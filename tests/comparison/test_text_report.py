"""How much of an answer a comparison's table shows: columns of a terminal count, not characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evalsi_comparison.text_report import MAX_ANSWER_COLUMNS, _short
from evalsi_kernel.results.grid import display_width, printable


@given(st.text(max_size=200))
def test_no_answer_takes_more_room_than_there_is_however_wide_or_unprintable_its_characters(text: str) -> None:
    shown = _short(text)
    assert display_width(printable(shown)) <= MAX_ANSWER_COLUMNS + 1
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))
