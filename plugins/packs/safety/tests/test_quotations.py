"""A text without what it quotes."""

import pytest

from evalsi_pack_safety.quotations import MAX_QUOTED, unquoted


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ('She said "no" twice.', "She said   twice."),
        ("“a” „b“ „c” «d» »e« 「f」 『g』 end", "              end"),
        ("a\n> b\nc", "a\nc"),
        ("a ```b``` c", "a   c"),
        ("don't can't ‘x’", "don't can't ‘x’"),
        ('5" wide', '5" wide'),
        ('"a\n\nb" c', '"a\n\nb" c'),
    ],
)
def test_what_stands_between_marks_is_a_blank(text: str, rest: str) -> None:
    assert unquoted(text) == rest


def test_a_text_that_is_all_quoted_is_left_as_it_is() -> None:
    for text in ('"no"', "> no", "```no```", "", "…"):
        assert unquoted(text) == text


def test_a_quotation_is_of_bounded_length() -> None:
    assert unquoted(f'a "{"b" * (MAX_QUOTED - 1)}" c') == "a   c"
    assert "b" in unquoted(f'a "{"b" * (MAX_QUOTED + 1)}" c')
