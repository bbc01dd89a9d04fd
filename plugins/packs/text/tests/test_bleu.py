"""BLEU of a sentence and of a corpus is sacrebleu's, whatever the order and the number of references."""

import random
from typing import Any

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from evalsi import Record, Score
from evalsi.opened import total
from evalsi_pack_text.bleu import Bleu, CorpusBleu

OUTPUTS = [
    "The ferry leaves at seven in the morning.",
    "We kept the spare key under the blue pot.",
    "Nobody answered the second letter from the bank.",
]
REFERENCES = [
    "The ferry leaves at seven each morning.",
    "We kept a spare key under the blue pot.",
    "No one answered the second letter from the bank.",
]


def sentence(output: str, reference: object, **params: Any) -> float:
    found = Bleu(**params).score(Record(output=output, reference=reference))
    value = found.value if isinstance(found, Score) else found
    assert value is not None
    return value


def corpus(outputs: list[str], references: list[Any], **params: Any) -> Score:
    evaluator = CorpusBleu(**params)
    pairs = zip(outputs, references, strict=True)
    return evaluator.combine(
        total([evaluator.observe(Record(output=output, reference=reference)) for output, reference in pairs])
    )


def percent(score: Score) -> float:
    assert score.value is not None
    return score.value * 100


@pytest.mark.parametrize("text", ["Harbour Gate", "the old harbour gate", "gate", OUTPUTS[0], "门在黎明时打开"])
def test_a_sentence_scores_1_against_itself_however_short(text: str) -> None:
    assert sentence(text, text) == pytest.approx(1.0)
    assert sentence(text, text) <= 1.0


@pytest.mark.parametrize(
    ("output", "reference"),
    [("", "the gate"), ("hello there", "\f"), ("\f", "\f"), ("", ""), ("  ", "the gate"), ("gate", "")],
)
def test_empty_text_on_either_side_scores_0_and_crashes_nothing(output: str, reference: str) -> None:
    assert sentence(output, reference) == 0.0


def test_the_corpus_pools_counts_in_any_order() -> None:
    assert percent(corpus(OUTPUTS, REFERENCES)) == pytest.approx(69.9927, abs=1e-4)
    order = [2, 0, 1]
    shuffled = corpus([OUTPUTS[index] for index in order], [REFERENCES[index] for index in order])
    assert shuffled == corpus(OUTPUTS, REFERENCES)
    mean = sum(map(sentence, OUTPUTS, REFERENCES)) / 3
    assert mean * 100 == pytest.approx(66.4334, abs=1e-4)


def test_an_empty_output_counts_in_the_brevity_penalty() -> None:
    found = corpus([OUTPUTS[0], "", OUTPUTS[2]], REFERENCES)
    assert percent(found) == pytest.approx(39.9212, abs=1e-4)


def test_a_corpus_without_four_words_in_a_row_is_0_and_says_why() -> None:
    found = corpus(["Harbour Gate"], ["Harbour Gate"])
    assert found.value == 0.0
    assert found.explanation == "No output has 4 words in a row, so BLEU-4 of this corpus is 0 by definition."
    assert corpus(["Harbour Gate"], ["Harbour Gate"], max_n=2) == Score(value=1.0)


def test_a_corpus_of_empty_outputs_is_0() -> None:
    assert corpus(["", ""], ["the gate", "at dawn"]).value == 0.0


@pytest.mark.parametrize(("words", "most_kept"), [(2, 2500), (2800, 60)])
def test_a_run_does_not_keep_every_text_and_the_fewer_the_longer_they_are(words: int, most_kept: int) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    kept: Any = Tokenizer13a.__call__
    kept.cache_clear()
    evaluator = Bleu()
    most = 0
    for number in range(6_000 // words + 100):
        evaluator.score(Record(output="ferry " * words + f"{number}", reference=f"{number}" + " ferry" * words))
        most = max(most, kept.cache_info().currsize)
    assert 0 < most <= most_kept


vocabulary = ["the", "The", "ferry,", "leaves", "at", "seven.", "in-the", "morning", "é", "&", "3.5", "\n", "门"]
sentences = st.lists(st.sampled_from(vocabulary), max_size=8).map(" ".join)


@given(sentences, st.lists(sentences, min_size=1, max_size=3), st.integers(1, 6))
def test_any_sentence_scores_as_in_sacrebleu(output: str, references: list[str], max_n: int) -> None:
    theirs = sacrebleu.BLEU(effective_order=True, max_ngram_order=max_n).sentence_score(output, references).score
    ours = sentence(output, references, max_n=max_n)
    assert ours == pytest.approx(theirs / 100)
    assert 0.0 <= ours <= 1.0


@given(st.lists(st.tuples(sentences, sentences, sentences), min_size=1, max_size=5), st.integers(1, 6))
def test_any_corpus_scores_as_in_sacrebleu(rows: list[tuple[str, str, str]], max_n: int) -> None:
    outputs, first, second = (list(column) for column in zip(*rows, strict=True))
    theirs = sacrebleu.BLEU(max_ngram_order=max_n).corpus_score(outputs, [first, second]).score
    ours = corpus(outputs, [list(pair) for pair in zip(first, second, strict=True)], max_n=max_n)
    assert percent(ours) == pytest.approx(theirs)


def test_a_resample_is_the_score_of_the_records_drawn() -> None:
    evaluator = CorpusBleu()
    generator = random.Random(3)
    outputs = [" ".join(generator.choices(vocabulary, k=9)) for _ in range(20)]
    references = [" ".join(generator.choices(vocabulary, k=9)) for _ in range(20)]
    states = [evaluator.observe(Record(output=o, reference=r)) for o, r in zip(outputs, references, strict=True)]

    resampled = [score.value for score in evaluator.resample(states, resamples=20, seed=5)]

    import numpy

    drawing = numpy.random.default_rng(5)
    drawn = [drawing.integers(0, 20, size=20) for _ in range(20)]
    direct = [corpus([outputs[i] for i in rows], [references[i] for i in rows]).value for rows in drawn]
    assert resampled == direct
    assert len(set(resampled)) > 10


def test_resampling_is_decided_by_the_seed() -> None:
    evaluator = CorpusBleu()
    states = [evaluator.observe(Record(output=o, reference=r)) for o, r in zip(OUTPUTS, REFERENCES, strict=True)]
    once, again = list(evaluator.resample(states, 50, 7)), list(evaluator.resample(states, 50, 7))
    assert once == again
    assert once != list(evaluator.resample(states, 50, 8))
