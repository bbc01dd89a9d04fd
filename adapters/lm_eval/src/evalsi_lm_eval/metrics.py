"""Table of the harness' metrics, with the evaluator for each or the reason why there is none.

A test compares it with the harness' registry.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Of = Literal["choice", "text", "texts", "continuation", "document", ""]


class MetricRow(NamedTuple):
    """A metric of the harness.

    Args:
        metric: the harness' name.
        of: what is scored: a "choice" between texts, a "text" against its references, all "texts" of the dataset
            together, or a "continuation" or a whole "document" by its log-likelihood; "" if it cannot be used here.
        summary: one line for the catalog, or why the metric cannot be used.
        name: name of the evaluator; "" takes the metric's name with hyphens.
        maximum: greatest value; None if there is no upper bound.
        higher_is_better: whether greater values are better.
        unit: unit of the value.
    """

    metric: str
    of: Of
    summary: str
    name: str = ""
    maximum: float | None = None
    higher_is_better: bool = True
    unit: str = ""

    @property
    def evaluator(self) -> str:
        """Return the evaluator's name, or "" if there is none."""
        return (self.name or self.metric.replace("_", "-")) if self.of else ""


METRICS = (
    MetricRow(
        "exact_match", "text", "Whether the filtered output is a reference; what to ignore is said by its params."
    ),
    MetricRow(
        "acc", "choice", "Whether the likeliest choice is right; without choices, whether greedy decoding gives it."
    ),
    MetricRow("acc_norm", "choice", "Whether the likeliest choice is right, by log-likelihood per character."),
    MetricRow("acc_bytes", "choice", "Whether the likeliest choice is right, by log-likelihood per byte of UTF-8."),
    MetricRow(
        "acc_mutual_info",
        "choice",
        "Whether the choice that gains most from the input is right; needs the choices' own log-likelihoods too.",
    ),
    MetricRow(
        "brier_score",
        "choice",
        "Brier score of the choices' probabilities, from 0 to 2; 0 is best.",
        maximum=2.0,
        higher_is_better=False,
    ),
    MetricRow("f1", "choice", "F1 of choice 1 over all records; for two choices.", maximum=1.0),
    MetricRow("mcc", "choice", "Matthews' correlation of choices and right choices over all records.", maximum=1.0),
    MetricRow("bleu", "texts", "Corpus BLEU of the filtered outputs (sacrebleu), 0 to 100.", maximum=100.0),
    MetricRow("chrf", "texts", "Corpus chrF of the filtered outputs (sacrebleu), 0 to 100.", maximum=100.0),
    MetricRow(
        "chrf++",
        "texts",
        "Corpus chrF++ of the filtered outputs (sacrebleu, words up to 2), 0 to 100.",
        name="chrf-plus-plus",
        maximum=100.0,
    ),
    MetricRow(
        "ter", "texts", "Corpus TER of the filtered outputs (sacrebleu): edits per 100 words.", higher_is_better=False
    ),
    MetricRow(
        "perplexity",
        "continuation",
        "exp of the mean negative log-likelihood of a continuation.",
        higher_is_better=False,
    ),
    MetricRow(
        "word_perplexity", "document", "Perplexity per word of the references, by their blanks.", higher_is_better=False
    ),
    MetricRow("byte_perplexity", "document", "Perplexity per byte of the references.", higher_is_better=False),
    MetricRow(
        "bits_per_byte", "document", "Bits that a byte of the references takes.", higher_is_better=False, unit="bits"
    ),
    MetricRow("likelihood", "", "gives all log-likelihoods of a record, which the harness then cannot average"),
    MetricRow("acc_all", "", "groups the docs of one task by its own keys: use `lm-eval/corpus-task`"),
    MetricRow("bypass", "", "scores nothing: it stands for tasks whose outputs are only written down"),
)
