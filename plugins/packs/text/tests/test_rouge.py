"""ROUGE agrees with rouge-score 0.1.2 on ASCII text, and knows every other script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import Record
from evalsi_pack_text.rouge import Rouge

# Output, reference, and the F1 of rouge1, rouge2 and rougeL that rouge-score 0.1.2 gives without stemming:
# RougeScorer(["rouge1", "rouge2", "rougeL"]).score(reference, output).
OF_ROUGE_SCORE = [
    ("the dog lay on the rug", "the dog sits on the rug", 0.8333333333333334, 0.6, 0.8333333333333334),
    ("The gate opens at dawn", "The gate opens at dawn", 1.0, 1.0, 1.0),
    ("", "the gate", 0.0, 0.0, 0.0),
    ("gate", "gate", 1.0, 0.0, 1.0),
    ("rain rain in Lisbon", "rain in Lisbon in spring", 0.6666666666666665, 0.5714285714285715, 0.6666666666666665),
    ("it's a test-case: 3.5%", "its a test case 35", 0.5, 0.4, 0.5),
    ("a b c d e", "e d c b a", 1.0, 0.0, 0.20000000000000004),
    (
        "X and the (north) old late;",
        "gate old and opens Late, old late; X don't",
        0.5,
        0.14285714285714285,
        0.37499999999999994,
    ),
    ("late;", "the gate late; harbour and Late, late;", 0.25, 0.0, 0.25),
    (
        "(north) gate late; don't dawn Late, old old gate",
        "and at late; closes at (north) a42 opens late;",
        0.3157894736842105,
        0.0,
        0.2105263157894737,
    ),
    ("late; closes east-west X closes don't old a42", "at dawn a42 the closes gate harbour old", 1 / 3, 0.0, 2 / 9),
    ("X harbour gate opens opens closes late;", "at harbour Late, late; at", 1 / 3, 0.0, 1 / 3),
    ("a42 Late, don't", "closes", 0.0, 0.0, 0.0),
    ("Late, X don't", "east-west don't", 0.5, 0.3333333333333333, 0.5),
    (
        "Late, under_score dawn opens Late,",
        "at opens (north) X east-west (north) (north) 3.5 opens",
        0.11764705882352942,
        0.0,
        0.11764705882352942,
    ),
    ("closes 3.5 X (north) closes gate late; dawn (north)", "X dawn gate opens gate gate", 0.375, 0.0, 0.25),
    ("under_score and don't old X a42 closes 3.5", "3.5 gate", 0.2857142857142857, 1 / 6, 0.2857142857142857),
    ("the late; closes", "don't late; closes", 0.5714285714285715, 0.4, 0.5714285714285715),
]


def rouge(output: str, reference: object) -> tuple[float, ...]:
    scores = Rouge().score(Record(output=output, reference=reference))
    assert [score.name for score in scores] == ["rouge-1", "rouge-2", "rouge-l"]
    return tuple(score.value for score in scores if score.value is not None)


@pytest.mark.parametrize(("output", "reference", "one", "two", "longest"), OF_ROUGE_SCORE)
def test_ascii_text_scores_as_in_the_reference_implementation(
    output: str, reference: str, one: float, two: float, longest: float
) -> None:
    assert rouge(output, reference) == pytest.approx((one, two, longest), abs=1e-12)


def test_of_several_references_each_metric_takes_its_best() -> None:
    # Numbers of RougeScorer.score_multi(references, output).
    found = rouge("the harbour gate opens at dawn", ["the gate opens at noon today", "a harbour gate at dawn"])
    assert found == pytest.approx((0.7272727272727272, 0.4444444444444445, 0.7272727272727272), abs=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "नदी किनारमा बजार बिहान खुल्छ",
        "The gate opens at dawn",
        "ประตู เปิด ตอนเช้า",
        "تُفْتَحُ البوابةُ فجرًا",
        "门在黎明时打开",
        "문이 새벽에 열린다",
    ],
)
def test_a_text_in_any_script_scores_1_against_itself(text: str) -> None:
    assert rouge(text, text) == (1.0, 1.0, 1.0)


def test_words_that_share_only_their_ascii_letters_score_0() -> None:
    assert rouge("díl", "důl") == (0.0, 0.0, 0.0)


def test_chinese_overlaps_by_character() -> None:
    one, two, longest = rouge("首都是北京", "北京是首都")
    assert (one, two) == (1.0, 0.5)
    assert longest == pytest.approx(0.4)


def test_a_reference_without_a_word_is_left_out_and_is_an_error_when_alone() -> None:
    assert rouge("the gate", ["!!!", "the gate"]) == (1.0, 1.0, 1.0)
    for reference in ("", "!!!", ["…", "👍"]):
        with pytest.raises(ValueError, match="no reference holds a word; correct the references"):
            rouge("the gate", reference)


def test_an_output_without_a_word_scores_0() -> None:
    assert rouge("", "the gate") == (0.0, 0.0, 0.0)
    assert rouge("!!!", "the gate") == (0.0, 0.0, 0.0)


WORDS = ["the", "gate", "gate.", "opens", "AT", "dawn", "नदी", "门", "é", "-"]
texts = st.lists(st.sampled_from(WORDS), min_size=2).map(" ".join)


@given(texts, texts)
def test_scores_are_symmetric_and_within_their_range(left: str, right: str) -> None:
    try:
        forth, back = rouge(left, right), rouge(right, left)
    except ValueError:
        return  # One of them is nothing but dashes.
    assert all(0.0 <= value <= 1.0 for value in forth)
    assert forth == pytest.approx(back)


@given(texts)
def test_a_text_of_two_words_or_more_scores_1_against_itself(text: str) -> None:
    text = f"two words {text}"
    assert rouge(text, text) == (1.0, 1.0, 1.0)
