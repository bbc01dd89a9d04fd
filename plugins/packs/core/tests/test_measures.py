"""Numbers that a record carries or its text has; what is unknown is skipped, what is 0 is 0."""

from typing import Any

import pytest

from evalsi import Record, Skip
from evalsi_pack_core.measures import cost, latency, length, token_usage


def test_length_counts_words_characters_or_stated_tokens() -> None:
    record = Record(output=" the old\n gate ", usage={"output_tokens": 5})
    assert length(record) == 3
    assert length(record, unit="characters") == 15
    assert length(record, unit="tokens") == 5


def test_the_length_of_nothing_is_0_and_of_an_accented_letter_is_as_it_was_typed() -> None:
    assert length(Record(output="")) == 0
    assert length(Record(output="é"), unit="characters") == 1
    assert length(Record(output="😀"), unit="characters") == 1


def test_tokens_are_taken_as_usage_states_them() -> None:
    # A mean of several calls need not be whole.
    record = Record(output="the gate", usage={"output_tokens": 2.7})
    assert length(record, unit="tokens") == 2.7
    (stated,) = token_usage(record)
    assert stated.value == 2.7


@pytest.mark.parametrize("usage", [None, {}, {"output_tokens": None}, {"input_tokens": 5}])
def test_unknown_tokens_are_skipped_and_not_counted_as_words(usage: dict[str, Any] | None) -> None:
    with pytest.raises(Skip, match=r"record has no usage\.output_tokens"):
        length(Record(output="the old gate", usage=usage), unit="tokens")


def test_latency_and_cost_come_from_usage_and_zero_is_a_value() -> None:
    assert latency(Record(usage={"latency_ms": 235})) == 235.0
    assert cost(Record(usage={"cost_usd": 0})) == 0.0
    assert cost(Record(usage={"cost_usd": 0.01185})) == 0.01185


@pytest.mark.parametrize("usage", [None, {}, {"latency_ms": None, "cost_usd": None}])
def test_unknown_latency_or_cost_is_skipped(usage: dict[str, Any] | None) -> None:
    with pytest.raises(Skip, match=r"record has no usage\.latency_ms"):
        latency(Record(usage=usage))
    with pytest.raises(Skip, match=r"record has no usage\.cost_usd"):
        cost(Record(usage=usage))


@pytest.mark.parametrize(
    ("usage", "scores"),
    [
        (
            {"input_tokens": 9000, "output_tokens": 400},
            {"input-tokens": 9000, "output-tokens": 400, "total-tokens": 9400},
        ),
        ({"input_tokens": 3, "output_tokens": 0}, {"input-tokens": 3, "output-tokens": 0, "total-tokens": 3}),
        ({"input_tokens": 3}, {"input-tokens": 3}),
        ({"total_tokens": 7}, {"total-tokens": 7}),
        (
            {"input_tokens": 3, "output_tokens": 4, "total_tokens": 9},
            {"input-tokens": 3, "output-tokens": 4, "total-tokens": 9},
        ),
        (
            {"input_tokens": 3, "output_tokens": 4, "total_tokens": None},
            {"input-tokens": 3, "output-tokens": 4, "total-tokens": 7},
        ),
        ({"input_tokens": None, "output_tokens": 4}, {"output-tokens": 4}),
    ],
)
def test_token_usage_gives_what_is_known_and_the_sum_when_both_parts_are(
    usage: dict[str, Any], scores: dict[str, int]
) -> None:
    assert {score.name: score.value for score in token_usage(Record(usage=usage))} == scores


@pytest.mark.parametrize("usage", [{}, {"cost_usd": 1}, {"input_tokens": None}])
def test_without_any_token_count_the_record_is_skipped(usage: dict[str, Any]) -> None:
    with pytest.raises(Skip, match=r"record has no usage\.input_tokens, usage\.output_tokens or"):
        token_usage(Record(usage=usage))
