"""What a call costs: known to the digit, or unknown; never twice, never below zero, never zero because unknown."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalsi_kernel.broker.ask import Ask, Tokens
from evalsi_kernel.broker.prices import Price, PriceTable, input_tokens_bound, miscount, text_tokens_bound

PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
TABLE = PriceTable({"acme/one": PRICE})
counts = st.integers(0, 10**7)


def cost(tokens: Tokens) -> float | None:
    return TABLE.cost_usd("acme", "one", tokens)


def test_cached_tokens_are_parts_of_the_prompt_and_counted_once() -> None:
    # open-33: 400 plain, 8,000 read, 600 written, 400 of the reply. Counted twice it were 0.03765, without cache 0.033.
    tokens = Tokens(input=9000, output=400, cache_read=8000, cache_write=600)
    assert cost(tokens) == pytest.approx(0.01185, rel=1e-12)
    assert miscount(tokens) is None


def test_counts_that_contradict_one_another_cost_no_less_than_nothing_and_are_flagged() -> None:
    tokens = Tokens(input=100, output=0, cache_read=120)
    assert cost(tokens) == pytest.approx(120 * 0.3 / 1e6)
    assert miscount(tokens) == "120 tokens are counted as cached, and the whole prompt as 100."


@pytest.mark.parametrize(
    ("tokens", "flagged"),
    [
        (Tokens(), False),
        (Tokens(10, 5, 4, 6, 5), False),
        (Tokens(10, 5, 4, 7), True),
        (Tokens(10, 5, reasoning=6), True),
        (Tokens(10, -5), True),
        (Tokens(None, 5, 400), False),
    ],
)
def test_a_miscount_is_told_where_counts_contradict_one_another(tokens: Tokens, flagged: bool) -> None:
    assert (miscount(tokens) is not None) == flagged


@given(tokens=st.builds(Tokens, counts, counts, st.none() | counts, st.none() | counts, st.none() | counts))
def test_a_cost_is_never_below_zero_and_that_of_sound_counts_never_above_the_worst_case(tokens: Tokens) -> None:
    known = cost(tokens)
    assert known is not None
    assert known >= 0
    if miscount(tokens) is None:
        worst = TABLE.worst_case_usd("acme", "one", tokens.input or 0, tokens.output or 0)
        assert worst is not None
        assert known <= worst * (1 + 1e-12)


@pytest.mark.parametrize("tokens", [Tokens(), Tokens(10), Tokens(output=10), Tokens(-1, 10), Tokens(10, -1)])
def test_unknown_counts_have_an_unknown_cost(tokens: Tokens) -> None:
    assert cost(tokens) is None


def test_an_unknown_model_has_an_unknown_cost_and_worst_case() -> None:
    assert TABLE.cost_usd("acme", "two", Tokens(10, 10)) is None
    assert TABLE.worst_case_usd("acme", "two", 10, 10) is None
    assert PriceTable({}).cost_usd("acme", "one", Tokens(10, 10)) is None


def test_a_price_of_zero_is_known() -> None:
    assert PriceTable({"local": Price(0, 0, 0, 0)}).cost_usd("any", "local", Tokens(10, 10)) == 0.0


NAMES = {
    "acme/one": 1,
    "acme/one-*": 2,
    "acme/one-2026*": 3,
    "one-2026-11-03": 4,
    "acme/*": 5,
    "meta/big-3": 6,
    "acme/one-2026-11-03*": 7,
}


@pytest.mark.parametrize(
    ("provider", "model", "found"),
    [
        ("acme", "one", 1),
        ("acme", "one-mini", 2),
        ("acme", "one-2026-10-01", 3),
        ("acme", "one-2026-11-03", 4),
        ("acme", "one-2026-11-03-b", 7),
        ("other", "one-2026-11-03", 4),
        ("other", "one", None),
        ("acme", "oneself", 5),
        ("openai-compatible", "meta/big-3", 6),
        ("meta", "big-3", 6),
        ("acm", "e/one", None),
        ("ac", "anything", None),
    ],
)
def test_of_the_names_that_fit_the_longest_wins_whatever_their_order(
    provider: str, model: str, found: int | None
) -> None:
    for order in itertools.islice(itertools.permutations(NAMES.items()), 0, None, 97):
        table = PriceTable({name: Price(number, number, number, number) for name, number in order})
        price = table.price(provider, model)
        assert (None if price is None else price.input) == found


@given(texts=st.lists(st.text(max_size=200), max_size=5), more=st.text(min_size=1, max_size=50))
def test_the_bound_of_a_prompt_is_at_least_its_bytes_and_grows_with_it(texts: list[str], more: str) -> None:
    messages = [{"role": "user", "content": text} for text in texts]
    size_bytes = sum(len(text.encode()) for text in texts)
    bound = input_tokens_bound(Ask(messages))
    assert bound > size_bytes
    assert input_tokens_bound(Ask([*messages, {"role": "user", "content": more}])) > bound + len(more.encode())
    assert text_tokens_bound(texts) >= size_bytes


@given(schema=st.dictionaries(st.text(max_size=20), st.text(max_size=50), max_size=5))
def test_the_bound_of_a_prompt_allows_for_the_schema(schema: dict[str, str]) -> None:
    assume(schema)
    without = input_tokens_bound(Ask([]))
    size_bytes = len(json.dumps(schema, ensure_ascii=False).encode())
    assert input_tokens_bound(Ask([], schema=schema)) == without + size_bytes


def test_a_long_prompt_makes_the_whole_call_dearer_and_the_worst_case_knows_it() -> None:
    long = Price(4.0, 8.0, 0.4, 4.0)
    table = PriceTable({"m": Price(2.0, 10.0, 0.2, 2.0, ((1_000, long),))})
    assert table.cost_usd("p", "m", Tokens(1_000, 100)) == pytest.approx((1_000 * 2 + 100 * 10) / 1e6)
    assert table.cost_usd("p", "m", Tokens(1_001, 100)) == pytest.approx((1_001 * 4 + 100 * 8) / 1e6)
    assert table.cost_usd("p", "m", Tokens(1_001, 0, cache_read=1_000)) == pytest.approx((1 * 4 + 1_000 * 0.4) / 1e6)
    assert table.worst_case_usd("p", "m", 1_000, 100) == pytest.approx((1_000 * 2 + 100 * 10) / 1e6)
    assert table.worst_case_usd("p", "m", 1_001, 100) == pytest.approx((1_001 * 4 + 100 * 8) / 1e6)
    # The prompt may stay below the bound, where the reply costs more.
    assert table.worst_case_usd("p", "m", 1_001, 10_000) == pytest.approx((1_001 * 2 + 10_000 * 10) / 1e6)
