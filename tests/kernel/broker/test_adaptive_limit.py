"""Whatever a provider does, the window stays one: at least one call may start some time, and never too many."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.broker.adaptive_limit import LEAD, LOW, LOW_TRIPS, MAX_GAP_S, QUICK_SHARE, AdaptiveLimit

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["success", "old success", "refusal", "old refusal"]),
        st.floats(0.0, 1e4),  # seconds since the event before
        st.floats(0.0, 1e3),  # what the call took, or what the refusal asks to wait
        st.floats(0.0, 1.0),  # how full the window is
    ),
    max_size=60,
)


def refuse(
    window: AdaptiveLimit, *, sent: int, refused: int, now: float, number: int = 1, pause_s: float = 0.0
) -> None:
    """Calls from a number on are in flight together; some of them are refused."""
    for index in range(refused):
        window.throttled(number + index, number + sent - 1, sent - index, pause_s, now)


@given(most=st.integers(1, 1000), events=EVENTS)
def test_the_window_never_closes_and_never_opens_too_far(
    most: int, events: list[tuple[str, float, float, float]]
) -> None:
    window, now = AdaptiveLimit(most, most), 0.0
    for number, (what, later_s, seconds, fullness) in enumerate(events, start=1):
        now += later_s
        in_flight = max(1, round(fullness * window.limit))
        of = max(1, number - 50) if what.startswith("old") else number
        if what.endswith("success"):
            window.succeeded(of, in_flight, seconds, now)
        else:
            window.throttled(of, number + 3, in_flight, seconds, now)
        assert 1 <= window.limit <= most
        assert 0 < window.size <= most
        assert 0 <= window.gap_s <= MAX_GAP_S
        assert math.isfinite(window.size)


def test_before_anything_is_refused_starts_need_not_be_spread() -> None:
    window = AdaptiveLimit(64, 64)
    window.succeeded(1, 64, 0.5, 0.5)
    assert (window.limit, window.gap_s) == (64, 0.0)


def test_a_narrow_beginning_doubles_from_one_round_trip_to_the_next() -> None:
    window = AdaptiveLimit(64, 8)
    for number in range(8):
        window.succeeded(number + 1, 8, 0.05, 0.05)
    assert window.limit == 16


def test_refusals_of_one_round_trip_make_the_window_fall_once() -> None:
    window = AdaptiveLimit(64, 64)
    window.succeeded(1, 64, 0.5, 0.0)
    refuse(window, sent=64, refused=5, now=1.0, number=2)
    assert window.size == LOW * 64
    refuse(window, sent=10, refused=3, now=1.2, number=70)  # Sent after the fall, and among the first.
    assert window.size == LOW * 64
    window.succeeded(80, 10, 0.5, 1.7)
    refuse(window, sent=40, refused=20, now=1.8, number=130)
    assert window.size < LOW * LOW * 64


def test_after_a_fall_the_window_stays_low_until_it_is_seen_whether_fewer_calls_are_refused() -> None:
    window = AdaptiveLimit(64, 64)
    for number in range(1, 65):
        window.succeeded(number, 64, 0.5, 0.5)
    refuse(window, sent=64, refused=3, now=1.0, number=65)
    low = math.ceil(LOW_TRIPS * LOW * 64)
    for number in range(129, 129 + low):
        window.succeeded(number, 44, 0.5, 2.0)
    assert window.size == LOW * 64
    window.succeeded(129 + low, 44, 0.5, 2.0)
    assert window.size > LOW * 64


@pytest.mark.parametrize(("every", "falls"), [(25, 10), (12, 30)])
def test_a_share_that_is_refused_however_low_the_window_is_soon_makes_it_fall_no_more(every: int, falls: int) -> None:
    window, fell = AdaptiveLimit(64, 64), []
    for number in range(1, 20_001):
        now = number / 100
        if number % every:
            window.succeeded(number, window.limit, 0.5, now)
        elif window.throttled(number, number + window.limit - 1, window.limit, 0.0, now):
            fell.append(number)
    assert len(fell) < falls
    assert all(number < 10_000 for number in fell)
    assert window.size == 64


def test_where_less_than_half_is_let_through_the_window_falls_to_that() -> None:
    window = AdaptiveLimit(256, 256)
    refuse(window, sent=256, refused=248, now=0.01)
    assert window.size == 8


def test_where_nothing_is_let_through_one_call_at_a_time_asks_again_and_no_limit_is_learnt() -> None:
    window = AdaptiveLimit(256, 256)
    refuse(window, sent=256, refused=256, now=0.01)
    assert window.size == 1
    for number in range(300, 309):
        refuse(window, sent=1, refused=1, now=number * 10.0, number=number)
    assert window.size == 1
    now, number = 5000.0, 400
    for _ in range(6):
        for _ in range(window.limit):
            number += 1
            window.succeeded(number, window.limit, 0.05, now)
        now += 0.05
    assert window.size > 32


def test_what_was_let_through_is_soon_taken_again_for_the_most_part_and_then_slowly() -> None:
    window = AdaptiveLimit(64, 64)
    window.succeeded(1, 64, 0.05, 0.0)
    refuse(window, sent=64, refused=14, now=1.0, number=2, pause_s=1.0)
    now, number = 2.0, 100
    sizes = []
    while now < 60.0:
        for _ in range(window.limit):
            number += 1
            window.succeeded(number, window.limit, 0.05, now)
        sizes.append(window.size)
        now += 0.05
    assert sizes[1] == pytest.approx(QUICK_SHARE * 50, abs=0.3)
    assert sizes == sorted(sizes)
    reached = next(index for index, size in enumerate(sizes) if size >= 50)
    assert 14.0 < reached * 0.05 < 25.0
    assert sizes[-1] == 64


def test_after_an_outage_the_window_comes_back_to_where_it_was() -> None:
    window = AdaptiveLimit(64, 64)
    window.succeeded(1, 64, 0.05, 0.0)
    for number, now in ((2, 1.0), (70, 70.0), (71, 140.0), (72, 210.0)):
        refuse(window, sent=window.limit, refused=window.limit, now=now, number=number, pause_s=60.0)
    now, number = 300.0, 100
    for _ in range(7):
        for _ in range(window.limit):
            number += 1
            window.succeeded(number, window.limit, 0.05, now)
        now += 0.05
    assert window.size > QUICK_SHARE * 64


def test_a_window_of_less_than_one_call_spreads_starts_over_more_than_a_round_trip() -> None:
    window, number = AdaptiveLimit(8, 1), 0
    for _ in range(4):
        for _ in range(3):
            number += 1
            window.succeeded(number, 1, 0.05, number * 1.0)
        number += 1
        refuse(window, sent=1, refused=1, now=number * 1.0, number=number)
    assert window.size < 1
    assert window.limit == 1
    assert window.gap_s == pytest.approx(0.05 / (window.size * LEAD))
