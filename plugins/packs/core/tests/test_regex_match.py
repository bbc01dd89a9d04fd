"""Patterns: refused when bad, linear whatever they are, over any content's text."""

import pytest

from evalsi import ParamError, Record
from evalsi_pack_core.matching import RegexMatch


def matches(output: object, pattern: str, **params: bool) -> bool:
    return RegexMatch(pattern=pattern, **params).score(Record(output=output))


def test_a_part_of_the_output_is_enough_unless_the_whole_is_asked_for() -> None:
    assert matches("see page 42.", r"\d+")
    assert not matches("see page 42.", r"\d+", full_match=True)
    assert matches("42", r"\d+", full_match=True)


def test_case_counts_unless_told_otherwise() -> None:
    assert not matches("LISBON", "lisbon")
    assert matches("LISBON", "lisbon", ignore_case=True)
    assert matches("ЛИСАБОН", "лисабон", ignore_case=True)
    assert matches("LISBON", "(?i)lisbon")


@pytest.mark.parametrize(
    "pattern", ["(", "[a-", "*", "a{2,1}", r"(?=look)", r"(a)\1", r"\q", "(?z)a", "((a{1000}){1000}){1000}", ""]
)
def test_a_bad_pattern_is_refused_before_any_record(pattern: str) -> None:
    with pytest.raises(ParamError, match=r"^pattern: "):
        RegexMatch(pattern=pattern)


def test_the_refusal_names_the_pattern_and_the_fault() -> None:
    with pytest.raises(ParamError, match=r"pattern: '\(' is no RE2 pattern: missing \)"):
        RegexMatch(pattern="(")


@pytest.mark.parametrize("pattern", [r"^(a+)+$", r"^(a|a)*$", r"^(a|aa)+$", r"(x+x+)+y"])
def test_a_pattern_that_explodes_elsewhere_is_done_at_once(pattern: str) -> None:
    assert not matches("a" * 100_000 + "!" + "x" * 100_000, pattern)


def test_flags_within_the_pattern_work() -> None:
    assert not matches("one\ntwo", "one.two")
    assert matches("one\ntwo", "(?s)one.two")
    assert not matches("one\ntwo", "^two")
    assert matches("one\ntwo", "(?m)^two$")


def test_a_dot_is_a_character_and_not_a_byte() -> None:
    assert matches("é", ".", full_match=True)
    assert matches("東京", r"\p{Han}{2}", full_match=True)


def test_messages_and_json_are_matched_as_text() -> None:
    assert matches([{"role": "assistant", "content": "It is 42."}], r"\d+")
    assert matches({"json": {"a": [1, 2]}}, r'^\{"a":\[1,2\]\}$')


def test_an_empty_output_can_match() -> None:
    assert matches("", "^$")
    assert not matches("", ".")
