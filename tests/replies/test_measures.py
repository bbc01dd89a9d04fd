"""Spans and sizes are read as people write them; what has no unit is refused, since days are no hours."""

from __future__ import annotations

import pytest

from evalsi_kernel.errors import UsageError
from evalsi_replies.measures import moment_text, parse_size_bytes, parse_span_s, size_text


@pytest.mark.parametrize(("text", "hours"), [("12h", 12), ("30d", 720), ("2w", 336), ("0.5d", 12), ("1 D", 24)])
def test_a_span_has_hours_days_or_weeks(text: str, hours: float) -> None:
    assert parse_span_s("--older-than", text) == hours * 3600


@pytest.mark.parametrize(
    ("text", "size"),
    [("500MB", 500_000_000), ("2 GiB", 2**31), ("1.5kB", 1500), ("0B", 0), ("1tb", 10**12), ("3MiB", 3 * 2**20)],
)
def test_a_size_has_its_unit(text: str, size: int) -> None:
    assert parse_size_bytes("--max-size", text) == size


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1e3d", "30m", "1h30m", "٣d", "inf d", "30MB"])
def test_what_is_no_span_is_wrong_usage_and_named(text: str) -> None:
    with pytest.raises(UsageError, match="--older-than is") as caught:
        parse_span_s("--older-than", text)
    assert repr(text) in caught.value.message
    assert "30d" in caught.value.hint


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"), (10**13, "10.0 TB")],
)
def test_a_size_is_shown_in_the_unit_that_suits_it(size: int, text: str) -> None:
    assert size_text(size) == text


def test_a_moment_is_shown_to_the_minute_and_with_its_zone() -> None:
    assert moment_text(1_700_000_000) == "2023-11-14 22:13 UTC"
