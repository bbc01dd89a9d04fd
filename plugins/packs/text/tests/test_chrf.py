"""chrF is sacrebleu's, with white space left out."""

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from evalsi import Record
from evalsi.params import params_schema
from evalsi_pack_text.chrf import Chrf


def chrf(output: str, reference: object, max_n: int = 6, beta: float = 2) -> float:
    return Chrf(max_n=max_n, beta=beta).score(Record(output=output, reference=reference))


@pytest.mark.parametrize(
    ("output", "reference", "percent"),
    [
        ("the dog lay on the rug", "the dog sits on the rug", 57.0261),
        ("x y", "xy", 100),
        ("snow fall", "snowfall", 100),
    ],
)
def test_white_space_is_no_part_of_an_n_gram(output: str, reference: str, percent: float) -> None:
    assert chrf(output, reference) * 100 == pytest.approx(percent, abs=1e-4)


@pytest.mark.parametrize("text", ["a", "gate", "The gate opens at dawn.", "नदी किनारमा", "门"])
def test_a_text_scores_1_against_itself(text: str) -> None:
    assert chrf(text, text) == pytest.approx(1.0)


@pytest.mark.parametrize(("output", "reference"), [("", "gate"), ("gate", ""), ("gate", "\f"), ("", ""), (" ", "gate")])
def test_empty_text_on_either_side_scores_0(output: str, reference: str) -> None:
    assert chrf(output, reference) == 0.0


def test_the_largest_weight_that_may_be_given_is_recall_and_no_overflow() -> None:
    schema = params_schema(Chrf.__init__, skip=("self",))
    beta = schema["properties"]["beta"]["maximum"]
    # Of 4, 3, 2 and 1 n-grams of the reference the output has 2, 1, 0 and 0; its own do not count.
    assert chrf("abxyz", "abcd", max_n=4, beta=beta) == pytest.approx((2 / 4 + 1 / 3) / 4)


texts = st.text(alphabet="abc é.門 ", max_size=12)


@given(texts, st.lists(texts, min_size=1, max_size=3), st.integers(1, 8), st.sampled_from([0, 0.5, 1, 2, 3]))
def test_any_pair_scores_as_in_sacrebleu(output: str, references: list[str], max_n: int, beta: float) -> None:
    theirs = sacrebleu.CHRF(char_order=max_n, beta=beta).sentence_score(output, references).score
    ours = chrf(output, references, max_n, beta)
    assert ours == pytest.approx(theirs / 100)
    assert 0.0 <= ours <= 1.0


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_the_best_reference_counts(output: str, references: list[str]) -> None:
    assert chrf(output, references) == max(chrf(output, reference) for reference in references)
