"""Files of prices: what they say, and what is wrong in one, told with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalsi_connectors.price_files import read_prices
from evalsi_kernel.broker.prices import Price, PriceTable
from evalsi_kernel.errors import ConfigError


def loaded(tmp_path: Path, *texts: str) -> PriceTable:
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"prices{number}.toml")
        paths[-1].write_text(text, "utf-8")
    return PriceTable.load(paths, read_prices)


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
    first = PriceTable.load([path, path], read_prices).version
    path.write_text("[models.one]\ninput = 1\noutput = 3\n", "utf-8")
    assert first.startswith("mine.toml ")
    assert "+" not in first
    assert PriceTable.load([path], read_prices).version != first


def test_a_price_may_depend_on_the_length_of_the_prompt(tmp_path: Path) -> None:
    table = loaded(tmp_path, f'{GOOD}[[models."acme/one".above]]\ntokens = 200_000\ninput = 4\noutput = 8\n')
    assert table.price("acme", "one") == Price(1.0, 2.0, 1.0, 1.0, ((200_000, Price(4.0, 8.0, 4.0, 4.0)),))


GOOD = '[models."acme/one"]\ninput = 1\noutput = 2\n'
TIER = '[[models."acme/one".above]]\n'
LESS = "tokens = 9\ninput = 1\noutput = 1\n"
FIRST, SECOND = 'models."acme/one".above[0]', 'models."acme/one".above[1]'
BAD: list[Any] = [
    pytest.param("", "names no model", 'Write for each one [models."', id="empty"),
    pytest.param("models = 3", "names no model", "Write for each one", id="models is a number"),
    pytest.param(
        GOOD + "inptu = 3", 'line 4: models."acme/one".inptu is not a known key', '"input"', id="unknown part"
    ),
    pytest.param("verson = 1\n" + GOOD, "line 1: verson is not a known key", '"version"', id="unknown key"),
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
    pytest.param(GOOD + "above = 3", '"acme/one".above must be tables', "[[models", id="above is a number"),
    pytest.param(
        GOOD + TIER + "input = 1\noutput = 1", "line 4: " + FIRST + " has no tokens", "200_000", id="no tokens"
    ),
    pytest.param(GOOD + TIER + "tokens = 0\ninput = 1\noutput = 1", FIRST + " must have tokens above 0", "", id="0"),
    pytest.param(
        GOOD + TIER + "tokens = 5\ninput = 1", "line 4: " + FIRST + " has no output", "", id="no output above"
    ),
    pytest.param(GOOD + TIER + LESS + "inptu = 1", "line 8: " + FIRST + ".inptu is", "input", id="unknown part above"),
    pytest.param(GOOD + TIER + LESS + TIER + LESS, "line 8: " + SECOND + " must have tokens above 9", "", id="order"),
    pytest.param("[models.x\ninput = 1", "not TOML", "Fix the syntax there", id="no TOML"),
]


@pytest.mark.parametrize(("text", "message", "hint"), BAD)
def test_a_bad_file_is_refused_with_the_line_and_what_to_do(tmp_path: Path, text: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text)
    assert "prices0.toml" in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_all_problems_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"(?s)4 problems:.*line 2.*line 3.*line 4.*line 4"):
        loaded(tmp_path, "[models.x]\ninput = -1\noutput = -2\n[models.y]\n")


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        PriceTable.load([tmp_path / "none.toml"], read_prices)
    (tmp_path / "bad.toml").write_bytes(b"# fine\n# \xff\n")
    with pytest.raises(ConfigError, match=r"not UTF-8 \(line 2\)"):
        PriceTable.load([tmp_path / "bad.toml"], read_prices)
