"""Equality of output and reference, and the form in which they are compared."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import Record
from evalsi_pack_core.matching import ExactMatch
from evalsi_pack_core.normal_form import folded, normal_form, unpunctuated, words


def passes(output: object, reference: object, **params: bool) -> bool:
    return ExactMatch(**params).score(Record(output=output, reference=reference))


@pytest.mark.parametrize(
    ("output", "reference"),
    [
        ("Lisbon", "lisbon"),
        ("  the\told\n gate ", "the old gate"),
        ("the\u00a0gate", "the gate"),
        ("the\u3000gate", "the gate"),
        ("STRASSE", "straße"),
        ("ﬁn", "fin"),
        ("Ａ１", "a1"),
        ("café", "cafe\u0301"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("İstanbul", "i\u0307stanbul"),
        ("½", "1⁄2"),
    ],
)
def test_case_composition_compatibility_and_white_space_are_levelled(output: str, reference: str) -> None:
    assert passes(output, reference)
    assert not passes(output, reference, normalize=False)


@pytest.mark.parametrize(
    ("output", "reference"),
    [
        ("Lisbon.", "Lisbon"),
        ("So the invoice comes to $1,284.00.", "1284"),
        ("istanbul", "İstanbul"),
        ("ı", "i"),
        ("cafe", "café"),
        ("oldgate", "old gate"),
        ("", "Lisbon"),
    ],
)
def test_other_differences_are_differences(output: str, reference: str) -> None:
    assert not passes(output, reference)


def test_any_of_a_list_of_references_will_do() -> None:
    assert passes("oslo", ["Bergen", "Oslo"])
    assert not passes("oslo", ["Bergen", "Oslo!"])


def test_punctuation_of_any_script_is_left_out_on_demand() -> None:
    assert passes("“Hello , world!”", "hello world", ignore_punctuation=True)
    assert passes("「東京」。", "東京", ignore_punctuation=True)
    assert not passes("Hello, world", "hello world", normalize=False, ignore_punctuation=True)
    assert passes("Hello, world!", "Hello world", normalize=False, ignore_punctuation=True)


def test_a_text_of_nothing_but_punctuation_equals_no_other_and_no_empty_one() -> None:
    assert not passes("", "!!!", ignore_punctuation=True)
    assert not passes("???", "!!!", ignore_punctuation=True)
    assert passes("!!!", "!!!", ignore_punctuation=True)


def test_json_content_is_compared_in_its_compact_form() -> None:
    assert passes({"json": {"b": 1, "a": 2}}, '{"a":2,"b":1}')


@given(st.text())
def test_every_text_equals_itself_however_it_is_compared(text: str) -> None:
    for normalize in (True, False):
        for ignore_punctuation in (True, False):
            assert passes(text, text, normalize=normalize, ignore_punctuation=ignore_punctuation)


@given(st.text())
def test_the_normal_form_is_final_and_blind_to_case_and_composition(text: str) -> None:
    form = normal_form(text)
    assert normal_form(form) == form
    assert normal_form(text.casefold()) == form
    for composition in ("NFC", "NFD", "NFKC", "NFKD"):
        assert normal_form(unicodedata.normalize(composition, text)) == form


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_gives_what_the_long_way_gives(text: str) -> None:
    assert words(text + " é") == [*words(text), "é"]
    assert folded(text) == text.casefold()


@given(st.text())
def test_without_punctuation_nothing_else_is_lost(text: str) -> None:
    bare = unpunctuated(text)
    kept = "".join(character for character in text if unicodedata.category(character)[0] != "P")
    assert bare == kept or (bare == text and not kept.strip())
