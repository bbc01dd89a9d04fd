"""What of a Markdown text is prose, and what stands in code, in links or in definitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_pack_rag.prose import ProseReader

READER = ProseReader()


def opened(text: str) -> list[str]:
    """The open text of each paragraph, with a tilde for what is not open."""
    return [paragraph.open.replace("\ufffc", "~") for paragraph in READER.paragraphs(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain [1]", ["plain [1]"]),
        ("**bold** and *it* [1]", ["bold and it [1]"]),
        ("see `xs[0]` [1]", ["see ~~~~~ [1]"]),
        ("``a`[0]`` [1]", ["~~~~~ [1]"]),
        ("[1](https://a.example) [2]", ["~ [2]"]),
        ("[[1]](https://a.example) [2]", ["~~~ [2]"]),
        ("[a *b* [1]](https://a.example) [2]", ["~~~~~~~ [2]"]),
        ("![1](a.png) [2]", ["~ [2]"]),
        ("<https://a.example/[1]> [2]", [f"{'~' * 21} [2]"]),
        ("```\nxs[0]\n```\nthen [1]", ["then [1]"]),
        ("~~~python\nxs[0]\n\nys[1]", []),
        ("before\n\n    xs[0]\n\nafter [1]", ["before", "after [1]"]),
        ("so [1]\n\n[1]: https://a.example\n[2]: A title", ["so [1]"]),
        ("so [1]\n[1]: https://a.example", ["so [1] "]),
        ("so[^1]\n\n[^1]: A note [2]", ["so[^1]"]),
        ("[1] opens a sentence", ["[1] opens a sentence"]),
        ("[text][1]", ["[text][1]"]),
        ("<answer>so [1]</answer>", ["<answer>so [1]</answer>"]),
        ("# Head [1]\n\n- a [2]\n  - b [3]\n\n> c [4]", ["Head [1]", "a [2]", "b [3]", "c [4]"]),
        ("two\nlines  \nthree", ["two lines three"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_what_stands_open(text: str, expected: list[str]) -> None:
    assert opened(text) == expected


@given(st.text(alphabet="a [1]()`\n*>-!<:^~"))
def test_text_and_open_text_have_the_same_places(text: str) -> None:
    for paragraph in READER.paragraphs(text):
        assert len(paragraph.text) == len(paragraph.open)
        assert "\n" not in paragraph.text
        for shown, is_open in zip(paragraph.text, paragraph.open, strict=True):
            assert is_open in (shown, "\ufffc")


@given(
    st.lists(
        st.sampled_from(["The ferry leaves [1].", "نعم [٢].", "是的。[1]", "नौका [१]।", "2 < 3 & 4 [2]"]), min_size=1
    )
)
def test_plain_paragraphs_are_left_as_they_are(paragraphs: list[str]) -> None:
    assert opened("\n\n".join(paragraphs)) == paragraphs
