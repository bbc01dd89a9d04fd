"""Which sentence a marker cites for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_pack_rag.cited_sentences import cited_sentences
from evalsi_pack_rag.markers import markers_of
from evalsi_pack_rag.prose import Paragraph, ProseReader

READER = ProseReader()


def cited(text: str) -> list[tuple[str, list[str]]]:
    return [
        (sentence.text, [marker.written for marker in sentence.markers])
        for sentence in cited_sentences(READER.paragraphs(text))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It leaves at seven [1]. Dogs are free.",
        "It leaves at seven. [1] Dogs are free.",
        "It leaves at seven.[1] Dogs are free.",
        "It leaves[1] at seven. Dogs are free.",
    ],
)
def test_a_marker_cites_for_the_sentence_that_it_stands_in_or_follows(text: str) -> None:
    assert cited(text) == [("It leaves at seven.", ["[1]"])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A ferry leaves [1]. [2] Dogs are free.", [("A ferry leaves.", ["[1]"]), ("Dogs are free.", ["[2]"])]),
        (
            "A ferry leaves [1]. [2][3] Dogs are free [4].",
            [("A ferry leaves.", ["[1]"]), ("Dogs are free.", ["[2]", "[3]", "[4]"])],
        ),
        ("A ferry leaves [1].[2] Dogs are free.", [("A ferry leaves.", ["[1]", "[2]"])]),
        ("A ferry leaves [1]. [2]", [("A ferry leaves.", ["[1]", "[2]"])]),
        ("A ferry leaves. [1] [2] Dogs are free.", [("A ferry leaves.", ["[1]"]), ("Dogs are free.", ["[2]"])]),
        ("[1] A ferry leaves. Dogs are free.", [("A ferry leaves.", ["[1]"])]),
        ("A ferry leaves.\n\n[1]", [("A ferry leaves.", ["[1]"])]),
        ("[1]\n\nA ferry leaves.", [("", ["[1]"])]),
        ("- a ferry [1]\n- a dog\n- a cat [1, 2]", [("a ferry", ["[1]"]), ("a cat", ["[1, 2]"])]),
        ("是的。[1]不是【2】。", [("是的。", ["[1]"]), ("不是 。", ["【2】"])]),
        ("नौका छूट्छ। [१] कुकुर जान्छ।", [("नौका छूट्छ।", ["[१]"])]),
        ("هل تغادر؟ [١] نعم.", [("هل تغادر؟", ["[١]"])]),
        ("Call `f(x)` [1].", [("Call f(x).", ["[1]"])]),
        ("No marker. None.", []),
        ("", []),
    ],
)
def test_sentences_with_their_markers(text: str, expected: list[tuple[str, list[str]]]) -> None:
    assert cited(text) == expected


def test_a_sentence_knows_its_paragraph_without_markers() -> None:
    (sentence,) = cited_sentences(READER.paragraphs("Other.\n\nThe ferry is red. It leaves at seven [1]."))
    assert (sentence.text, sentence.paragraph) == ("It leaves at seven.", "The ferry is red. It leaves at seven.")


pieces = st.sampled_from(
    ["The ferry leaves", "dogs", ".", ". ", "?", "。", " ", "[1]", "[2, 3]", " [4]", "\n\n", "- ", "”", "नौका", "।"]
)


@given(st.lists(pieces).map("".join))
def test_every_marker_cites_for_exactly_one_sentence(text: str) -> None:
    paragraphs = [Paragraph(part, part) for part in text.replace("\n\n", "\0").split("\0")]
    expected = sorted(marker.written for part in paragraphs for marker in markers_of(part.open))
    found = sorted(marker.written for sentence in cited_sentences(paragraphs) for marker in sentence.markers)
    assert found == expected
