"""What calls took adds up by evaluator, unknown parts stay unknown, and records leave nothing behind."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.ledger import Bill, Entry, Ledger

counts = st.none() | st.integers(0, 5000)
tokens = st.builds(Tokens, counts, counts, counts, counts, counts)
costs = st.none() | st.integers(0, 10_000).map(lambda micro: micro / 1e6)
entries = st.builds(Entry, st.just("ref"), tokens, costs, st.integers(0, 3), cached=st.booleans(), failed=st.booleans())
bookings = st.lists(st.tuples(st.integers(1, 3), st.sampled_from("abc"), entries), max_size=25)


def booked(*all_entries: Entry) -> Bill:
    ledger = Ledger()
    for entry in all_entries:
        ledger.book(1, "r", entry)
    return ledger.bill(1)


def test_a_session_has_its_own_bill_and_the_whole_is_their_sum() -> None:
    ledger = Ledger()
    ledger.book(1, "a", Entry("x", Tokens(100, 20, 80, 10, 5), 0.02, calls=2))
    ledger.book(1, "b", Entry("y", Tokens(50, 10, 0, 0, 0), 0.01, failed=True))
    ledger.book(2, "a", Entry("z", Tokens(7, 3, 0, 0, 1), 0.005))
    assert ledger.bill(1) == Bill(2, 3, 0, 1, 150, 30, 80, 5, cost_usd=0.03)
    assert ledger.bill(2) == Bill(1, 1, 0, 0, 7, 3, 0, 1, cost_usd=0.005)
    assert ledger.whole() == Bill(3, 4, 0, 1, 157, 33, 80, 6, cost_usd=0.035)


def test_a_session_that_asked_for_nothing_owes_nothing() -> None:
    assert Ledger().bill(9) == Ledger().whole() == Bill()
    assert Bill().shown_cost == "$0.00"


def test_a_cached_reply_takes_and_costs_nothing_whatever_it_took_once() -> None:
    bill = booked(Entry("x", Tokens(100, 20), 0.5, cached=True), Entry("x", cached=True))
    assert bill == Bill(asks=2, cached=2)
    assert bill.shown_cost == "$0.00"


def test_an_ask_that_came_to_no_call_takes_nothing_that_could_be_unknown() -> None:
    assert booked(Entry("x", calls=0, failed=True)) == Bill(asks=1, failed=1)


@pytest.mark.parametrize(
    ("known", "unknown", "shown"),
    [([0.1, 0.02], 0, "$0.12"), ([0.1, 0.02], 3, "≥ $0.12"), ([], 3, "unknown"), ([0.0], 0, "$0.00")],
)
def test_a_cost_with_unknown_parts_says_so(known: list[float], unknown: int, shown: str) -> None:
    bill = booked(*[Entry("x", cost_usd=cost) for cost in known], *[Entry("x")] * unknown)
    assert (bill.shown_cost, bill.unknown) == (shown, unknown)


def test_a_count_that_nobody_gave_is_unknown_and_not_zero() -> None:
    bill = booked(Entry("x", Tokens(10, 5), 0.1), Entry("y", Tokens(20, None), None))
    assert (bill.input_tokens, bill.output_tokens, bill.unknown_tokens) == (30, 5, 1)
    assert (bill.cached_tokens, bill.reasoning_tokens) == (None, None)


def test_counts_that_contradict_one_another_are_counted() -> None:
    assert booked(Entry("x", Tokens(100, 0, 120), 0.1), Entry("y", Tokens(100, 0, 80), 0.1)).miscounted == 1


@given(all_booked=bookings, seed=st.integers(0, 5))
def test_bills_do_not_depend_on_the_order_of_booking_and_add_up(
    all_booked: list[tuple[int, str, Entry]], seed: int
) -> None:
    ledger, shuffled = Ledger(), Ledger()
    for booking in all_booked:
        ledger.book(*booking)
    for booking in random.Random(seed).sample(all_booked, len(all_booked)):
        shuffled.book(*booking)
    bills = [ledger.bill(session) for session in (1, 2, 3)]
    whole = ledger.whole()
    assert bills == [shuffled.bill(session) for session in (1, 2, 3)]
    assert whole == shuffled.whole()
    for name in ("asks", "calls", "cached", "failed", "unknown", "unknown_tokens", "miscounted"):
        assert getattr(whole, name) == sum(getattr(bill, name) for bill in bills)
    for name in ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost_usd"):
        known = [getattr(bill, name) or 0 for bill in bills]
        assert (getattr(whole, name) or 0) == pytest.approx(sum(known))


@given(all_booked=bookings)
def test_each_entry_is_given_once_to_the_record_that_it_was_booked_on(
    all_booked: list[tuple[int, str, Entry]],
) -> None:
    ledger = Ledger()
    for booking in all_booked:
        ledger.book(*booking)
    whole = ledger.whole()
    for session in (1, 2, 3):
        for record_id in "abc":
            own = [entry for of, about, entry in all_booked if (of, about) == (session, record_id)]
            assert ledger.take(session, record_id) == own
            assert ledger.take(session, record_id) == []
    assert ledger.whole() == whole


def test_memory_does_not_grow_with_records_whose_entries_are_taken() -> None:
    ledger = Ledger()

    def use(records: range) -> int:
        for number in records:
            ledger.book(1, f"r{number}", Entry(f"ref{number}", Tokens(number, 1), 0.001))
            ledger.take(1, f"r{number}")
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = use(range(1000))
        assert use(range(1000, 20_000)) - before < 10_000
    finally:
        tracemalloc.stop()
