"""A text as a reader takes it, and the way back to the places of the original."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_pack_safety.readable import readable


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("４１１１－２２２２", "4111-2222"),
        ("٠١٢٣٤٥٦٧٨٩", "0123456789"),
        ("९८७६", "9876"),
        ("a\u00a0b\u2009c\u3000d", "a b c d"),
        ("1‑2–3—4−5", "1-2-3-4-5"),
        ("ja\u200bne\u00ad@\u2060x\ufe0f", "jane@x"),
        ("\u202a+1 212\u202c", "+1 212"),
        ("one\u2028two", "one\ntwo"),
        ("ｊａｎｅ＠ｘ", "jane@x"),
        ("Łukasz 东京 пр", "Łukasz 东京 пр"),
    ],
)
def test_digits_dashes_and_blanks_of_all_scripts_are_ascii_and_the_invisible_is_gone(text: str, form: str) -> None:
    assert readable(text).text == form


def test_a_part_is_found_again_in_the_original() -> None:
    text = "to ja\u200bne\u200b\u200b@x now"
    form = readable(text)
    start = form.text.index("jane@x")
    begin, end = form.span(start, start + 6)
    assert text[begin:end] == "ja\u200bne\u200b\u200b@x"


@given(st.text(), st.data())
def test_every_part_of_every_text_has_its_place(text: str, data: st.DataObject) -> None:
    form = readable(text)
    start = data.draw(st.integers(0, len(form.text)))
    end = data.draw(st.integers(start, len(form.text)))
    begin, stop = form.span(start, end)
    assert 0 <= begin <= stop <= len(text)
    if end > start:
        assert readable(text[begin:stop]).text == form.text[start:end]
