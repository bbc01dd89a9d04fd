"""A large JSON object is read a member at a time; what is no such object is refused in a sentence."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.errors import ConfigError
from evalsi_reports.document import members

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("document") / "file.json"


def read(path: Path) -> dict[str, Any]:
    """The object, put together from its members."""
    found: dict[str, Any] = {"results": []}
    for name, value in members(path, {"results"}):
        if name == "results":
            found["results"].append(value)
        else:
            found[name] = value
    return found


@given(
    st.dictionaries(st.text().filter(lambda name: name != "results"), JSON, max_size=4), st.lists(JSON), st.booleans()
)
def test_what_was_written_is_read(place: Path, head: dict[str, Any], results: list[Any], indented: bool) -> None:
    whole = head | {"results": results}
    place.write_text(json.dumps(whole, indent=2 if indented else None))
    assert read(place) == whole


@given(st.data())
def test_a_file_that_is_cut_anywhere_is_refused(place: Path, data: st.DataObject) -> None:
    text = json.dumps(
        {"schema_version": 1, "results": [{"a": 'x\u00e9 \\ "', "b": [1, 2.5e3, None]}] * 3, "z": "é"},
        ensure_ascii=False,
    )
    whole = text.encode()
    end = data.draw(st.integers(0, len(whole) - 1))
    place.write_bytes(whole[:end])
    with pytest.raises(ConfigError, match=r"cut off|it is empty"):
        read(place)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("w") as file:
        file.write('{"results":[')
        file.writelines(f'{{"id":"{number}","text":"{"word " * 400}"}},\n' for number in range(10_000))
        file.write('{"id":"last"}]}')
    assert path.stat().st_size > 20_000_000
    tracemalloc.start()
    try:
        assert sum(1 for _ in members(path, {"results"})) == 10_001
        assert tracemalloc.get_traced_memory()[1] < 12_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("[1, 2]", "it is no JSON object"),
        ('{"a": 1}\n{"a": 2}', "more than one JSON value"),
        ('{"results": 3}', '"results" is no list'),
        ('{"results": [1 2]}', 'not JSON within "results"'),
        ('{"results": [NaN]}', "NaN is no JSON number"),
        ('{"a" 1}', "not JSON within the file"),
        ('{"results": [' + "[" * 100_000, "no results file"),
    ],
)
def test_what_is_no_such_object_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said) as raised:
        read(path)
    assert raised.value.hint


def test_bytes_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(b'{"a": "\xff\xfe"}')
    with pytest.raises(ConfigError, match="not UTF-8"):
        read(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.json cannot be read: No such file"):
        read(tmp_path / "absent.json")
