"""What a call costs: known to the digit, or unknown; never twice, never below zero, never zero because unknown."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalsi_kernel.broker.ask import Ask, Tokens
from evalsi_kernel.broker.price_files import Price
from evalsi_kernel.broker.prices import PriceTable, input_tokens_bound, miscount, text_tokens_bound
from evalsi_kernel.errors import ConfigError

PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
TABLE = PriceTable({"acme/one": PRICE})
counts = st.integers(0, 10**7)


def cost(tokens: Tokens) -> float | None:
    return TABLE.cost_usd("acme", "one", tokens)


def loaded(tmp_path: Path, *texts: str) -> PriceTable:
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"prices{number}.toml")
        paths[-1].write_text(text, "utf-8")
    return PriceTable.load(paths)


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
    assert PriceTable.load([]).cost_usd("acme", "one", Tokens(10, 10)) is None


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


def test_a_later_file_overrides_an_earlier_one_and_both_are_named(tmp_path: Path) -> None:
    shipped = 'version = "2026-11"\nas_of = 2026-11-03\n[models."acme/one"]\ninput = 3\noutput = 15\ncache_read = 0.3\n'
    own = 'version = "ours"\nas_of = "2026-12-01"\n[models."acme/one"]\ninput = 1.5\noutput = 2\n'
    table = loaded(tmp_path, shipped + '[models."two*"]\ninput = 1\noutput = 1\n', own)
    assert table.price("acme", "one") == Price(1.5, 2.0, 1.5, 1.5)
    assert table.price("any", "two-b") == Price(1.0, 1.0, 1.0, 1.0)
    assert (table.version, table.as_of) == ("2026-11 + ours", "2026-11-03")


def test_a_file_named_twice_counts_once_and_one_without_a_version_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[models.one]\ninput = 1\noutput = 2\n", "utf-8")
    first = PriceTable.load([path, path]).version
    path.write_text("[models.one]\ninput = 1\noutput = 3\n", "utf-8")
    assert first.startswith("mine.toml ")
    assert "+" not in first
    assert PriceTable.load([path]).version != first


GOOD = '[models."acme/one"]\ninput = 1\noutput = 2\n'
BAD: list[Any] = [
    pytest.param("", "names no model", 'Write for each one [models."', id="empty"),
    pytest.param("models = 3", "names no model", "Write for each one", id="models is a number"),
    pytest.param(GOOD + "inptu = 3", 'line 4: models."acme/one".inptu is not a key', '"input"', id="unknown part"),
    pytest.param("verson = 1\n" + GOOD, "line 1: verson is not a key", '"version"', id="unknown key"),
    pytest.param("version = 3\n" + GOOD, "line 1: version must be text", "2026-11", id="version"),
    pytest.param("\nas_of = 2026\n" + GOOD, "line 2: as_of must be a day", "2026-11-03", id="as_of"),
    pytest.param('as_of = "soon"\n' + GOOD, "line 1: as_of must be a day", "2026-11-03", id="as_of text"),
    pytest.param('[models."a/b"]\ninput = 1\n', 'line 1: models."a/b" has no output', "Add output", id="missing"),
    pytest.param(GOOD + "[models.x]\noutput = -1\ninput = 0", 'line 5: models."x".output', "", id="negative"),
    pytest.param(GOOD + "[models.x]\ninput = 1\noutput = nan", 'line 6: models."x".output', "", id="nan"),
    pytest.param(GOOD + "[models.x]\ninput = true\noutput = 1", 'line 5: models."x".input', "", id="bool"),
    pytest.param('[models.x]\ninput = "3"\noutput = 1', 'not the text "3"', "", id="text"),
    pytest.param("[models.one-4.1]\ninput = 1\noutput = 1", "holds another table", "quotes", id="unquoted dots"),
    pytest.param("[models]\none = 3", 'line 2: models."one" must be a table', "", id="no table"),
    pytest.param('[models."a*b"]\ninput = 1\noutput = 1', "has a * before its end", "end only", id="star within"),
    pytest.param('[models.""]\ninput = 1\noutput = 1', "is no name of a model", "", id="no name"),
    pytest.param("[models.x\ninput = 1", "not TOML", "Mend that place", id="no TOML"),
]


@pytest.mark.parametrize(("text", "message", "mend"), BAD)
def test_a_bad_file_is_refused_with_the_line_and_what_to_do(tmp_path: Path, text: str, message: str, mend: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text)
    assert "prices0.toml" in caught.value.message
    assert message in caught.value.message
    assert mend in caught.value.mend


def test_all_problems_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"(?s)4 problems:.*line 2.*line 3.*line 4.*line 4"):
        loaded(tmp_path, "[models.x]\ninput = -1\noutput = -2\n[models.y]\n")


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        PriceTable.load([tmp_path / "none.toml"])
    (tmp_path / "bad.toml").write_bytes(b"# fine\n# \xff\n")
    with pytest.raises(ConfigError, match=r"not UTF-8 \(line 2\)"):
        PriceTable.load([tmp_path / "bad.toml"])


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
