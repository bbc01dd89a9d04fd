"""E4, T4 and T9: decomposed text, other scripts, and references that say little."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from evalsi import ParamError, Record, Score
from evalsi_pack_text.bleu import Bleu, CorpusBleu
from evalsi_pack_text.chrf import Chrf
from evalsi_pack_text.rouge import Rouge
from evalsi_pack_text.token_f1 import token_f1
from evalsi_pack_text.words import words

CHINESE = "猫坐在垫子上看着窗外的鸟"


def value(result: Any) -> float:
    found = result.value if isinstance(result, Score) else result
    assert isinstance(found, float)
    return found


@pytest.mark.parametrize("text", ["le café était fermé hier soir", "한국어 문장을 하나 더 씁니다", "Å ngström é ü ñ"])
def test_e4_decomposed_text_is_the_same_text(text: str) -> None:
    apart = unicodedata.normalize("NFD", text)
    for output, reference in ((text, apart), (apart, text)):
        record = Record(output=output, reference=reference)
        assert token_f1(record) == 1.0
        assert value(Bleu().score(record)) == value(Chrf().score(record)) == 1.0
        assert [score.value for score in Rouge().score(record)] == [1.0, 1.0, 1.0]
        counts = CorpusBleu()
        assert value(counts.combine(counts.observe(record))) == 1.0


@pytest.mark.parametrize(
    ("output", "reference"), [("巴黎。", "巴黎"), ("「巴黎」", "巴黎"), ("はい！", "はい"), ("ﾊｲ｡", "ﾊｲ")]
)
def test_e4_full_width_punctuation_is_punctuation(output: str, reference: str) -> None:
    assert token_f1(Record(output=output, reference=reference)) == 1.0
    assert token_f1(Record(output=reference, reference=output)) == 1.0


@pytest.mark.parametrize("tokenize", ["13a", "zh", "intl", "char", "none"])
@given(
    st.lists(st.sampled_from("猫坐在垫 a b,。 1.5 cat é"), max_size=20),
    st.lists(st.sampled_from("猫坐在 a b,。cat"), min_size=1),
)
def test_e4_bleu_is_sacrebleus_with_each_tokeniser(tokenize: Any, output: list[str], reference: list[str]) -> None:
    left, right = "".join(output), "".join(reference)
    expected = sacrebleu.sentence_bleu(left, [right], tokenize=tokenize).score / 100
    found = Bleu(tokenize=tokenize).score(Record(output=left, reference=right))
    assert value(found) == pytest.approx(min(1.0, expected))


def test_e4_an_unsegmented_script_with_the_default_tokeniser_is_noted() -> None:
    record = Record(output=CHINESE, reference=CHINESE + "儿")
    noted = Bleu().score(record)
    assert isinstance(noted, Score)
    assert "tokenize" in (noted.explanation or "")
    for tokenize in ("zh", "char"):
        assert 0.5 < value(Bleu(tokenize=tokenize).score(record)) < 1
        assert not isinstance(Bleu(tokenize=tokenize).score(record), Score)
    corpus = CorpusBleu()
    assert "tokenize" in (corpus.combine(corpus.observe(record)).explanation or "")
    assert not isinstance(Bleu().score(Record(output="a cat", reference="a cat")), Score)


def test_e4_a_tokeniser_that_is_not_installed_is_refused_with_what_to_use() -> None:
    with pytest.raises(ParamError, match="use char"):
        Bleu(tokenize="ja-mecab")


@pytest.mark.parametrize("reference", ["😀", "→ ←", "€"])
@pytest.mark.parametrize("output", ["", "!", "Oslo", "the"])
def test_t4_a_reference_of_signs_is_usable_whatever_the_output(reference: str, output: str) -> None:
    assert token_f1(Record(output=output, reference=reference)) == 0.0
    assert token_f1(Record(output=reference, reference=reference)) == 1.0


@pytest.mark.parametrize("reference", ["。", "！？", "...", "", ["。", " "]])
@pytest.mark.parametrize("output", ["", "Oslo", "。", "😀"])
def test_t4_a_reference_of_punctuation_is_an_error_whatever_the_output(reference: Any, output: str) -> None:
    with pytest.raises(ValueError, match="no reference holds"):
        token_f1(Record(output=output, reference=reference))


@given(st.text(max_size=6), st.text(max_size=6), st.text(max_size=6))
def test_t4_whether_a_reference_is_usable_depends_on_it_alone(reference: str, left: str, right: str) -> None:
    def is_error(output: str) -> bool:
        try:
            token_f1(Record(output=output, reference=reference))
        except ValueError:
            return True
        return False

    assert is_error(left) == is_error(right)


def test_t9_half_width_kana_are_words_of_their_own() -> None:
    assert words("ﾈｺ") == ["ﾈ", "ｺ"]
    assert Rouge().score(Record(output="ﾈｺ", reference="ﾈｺ"))[1].value == 1.0
