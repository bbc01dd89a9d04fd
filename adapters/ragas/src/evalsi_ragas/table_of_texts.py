"""Metrics that compare two texts, most of them without a model.

Sources: the classes of these names in RAGAS 0.4.3, `ragas.metrics.collections`.
"""

from __future__ import annotations

from typing import Annotated

from evalsi import Output, Param
from evalsi_ragas.row import YES_NO, Row, Setting, choice

_PAIR = ("reference", "response")

TEXT_ROWS = (
    Row(
        "semantic-similarity",
        "SemanticSimilarity",
        "Cosine of the vectors of output and reference; with a threshold 1 from there on, else 0.",
        _PAIR,
        asks=("embed",),
        output=Output(minimum=-1.0, maximum=1.0),
        settings=(
            Setting(
                "threshold",
                Annotated[float | None, Param("from what cosine on the score is 1", minimum=-1.0, maximum=1.0)],
                None,
            ),
        ),
        embeds_ahead=True,
    ),
    Row(
        "exact-match",
        "ExactMatch",
        "1 when the output is the reference to the letter, else 0.",
        _PAIR,
        asks=(),
        output=YES_NO,
        version=2,
    ),
    Row(
        "string-presence",
        "StringPresence",
        "1 when the reference stands in the output, else 0.",
        _PAIR,
        asks=(),
        output=YES_NO,
        version=2,
    ),
    Row(
        "string-similarity",
        "NonLLMStringSimilarity",
        "1 less the normalized edit distance of output and reference.",
        _PAIR,
        asks=(),
        settings=(choice("distance", "levenshtein", "hamming", "jaro", "jaro_winkler", about="which edit distance"),),
    ),
    Row(
        "bleu-score",
        "BleuScore",
        "BLEU of the output against the reference with sacrebleu, sentence by sentence, on 0 to 1.",
        _PAIR,
        asks=(),
    ),
    Row(
        "chrf-score",
        "CHRFScore",
        "chrF of the output against the reference with sacrebleu, on 0 to 1.",
        _PAIR,
        asks=(),
    ),
    Row(
        "sql-semantic-equivalence",
        "SQLSemanticEquivalence",
        "1 when the judge finds that output and reference are SQL queries with one meaning, else 0.",
        ("response", "reference"),
        ("reference_contexts",),
        output=YES_NO,
        version=2,
    ),
)
