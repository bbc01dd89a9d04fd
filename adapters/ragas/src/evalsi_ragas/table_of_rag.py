"""Metrics of retrieval-augmented generation, for the answer and for the retrieved texts.

Sources: the classes of these names in RAGAS 0.4.3, `ragas.metrics.collections` and `ragas.metrics`.
"""

from __future__ import annotations

from typing import Annotated

from evalsi import Output, Param
from evalsi_ragas.row import Row, Setting, choice, number

ANSWER = ("user_input", "response")
RETRIEVED = ("user_input", "retrieved_contexts")
# Range of a cosine, or of a mean that includes one.
COSINE = Output(minimum=-1.0, maximum=1.0)
_BETA = number("beta", 1.0, "more than 1 counts recall more, less than 1 precision", minimum=0.0)
_THRESHOLD = number("threshold", 0.5, "from what similarity on two texts count as one", minimum=0.0, maximum=1.0)

RAG_ROWS = (
    Row(
        "faithfulness",
        "Faithfulness",
        "Share of the answer's statements that the context supports; an answer without statements is skipped.",
        (*ANSWER, "retrieved_contexts"),
    ),
    Row(
        "answer-relevancy",
        "AnswerRelevancy",
        "Mean cosine of the input and of questions that the answer would answer; 0 when it commits to nothing.",
        ANSWER,
        asks=("judge", "embed"),
        output=COSINE,
        settings=(Setting("strictness", Annotated[int, Param("how many questions are made", minimum=1)], 3),),
    ),
    Row(
        "context-precision",
        "ContextPrecision",
        "Average precision of the retrieved texts that are useful for the reference, in rank order.",
        (*RETRIEVED, "reference"),
    ),
    Row(
        "context-utilization",
        "ContextUtilization",
        "Average precision of the retrieved texts that are useful for the answer, in rank order; needs no reference.",
        (*RETRIEVED, "response"),
    ),
    Row(
        "context-recall",
        "ContextRecall",
        "Share of the reference's sentences that the context supports.",
        (*RETRIEVED, "reference"),
    ),
    Row(
        "context-entity-recall",
        "ContextEntityRecall",
        "Share of the reference's entities that the context names; a reference without entities is skipped.",
        ("reference", "retrieved_contexts"),
    ),
    Row(
        "context-relevance",
        "ContextRelevance",
        "How far the context answers the input, as the mean of two ratings in three steps.",
        RETRIEVED,
        fixed={"max_retries": 1},
    ),
    Row(
        "response-groundedness",
        "ResponseGroundedness",
        "How far the context supports the answer, as the mean of two ratings in three steps.",
        ("response", "retrieved_contexts"),
        fixed={"max_retries": 1},
    ),
    Row(
        "noise-sensitivity",
        "NoiseSensitivity",
        "Share of the answer's statements that are wrong and come from the context; less is better.",
        (*ANSWER, "reference", "retrieved_contexts"),
        output=Output(minimum=0.0, maximum=1.0, higher_is_better=False),
        settings=(choice("mode", "relevant", "irrelevant", about="errors from relevant or from irrelevant texts"),),
    ),
    Row(
        "quoted-spans-alignment",
        "QuotedSpansAlignment",
        "Share of the answer's quotations that stand in the context; an answer without quotations is skipped.",
        ("response", "retrieved_contexts"),
        asks=(),
        settings=(
            Setting("casefold", Annotated[bool, Param("whether case and white space are passed over")], True),
            Setting("min_span_words", Annotated[int, Param("how many words make a quotation, at least", minimum=1)], 3),
        ),
        version=2,
    ),
    Row(
        "answer-accuracy",
        "AnswerAccuracy",
        "Agreement of the answer with the reference, as the mean of two ratings in three steps.",
        (*ANSWER, "reference"),
        fixed={"max_retries": 1},
    ),
    Row(
        "answer-correctness",
        "AnswerCorrectness",
        "F-score of the answer's statements against the reference's, averaged with the cosine of the two texts.",
        (*ANSWER, "reference"),
        asks=("judge", "embed"),
        output=COSINE,
        settings=(
            number(
                "factuality_weight",
                0.75,
                "of the F-score; the cosine weighs the rest, and with 1 no vectors are asked for",
                minimum=0.0,
                maximum=1.0,
            ),
            _BETA,
        ),
    ),
    Row(
        "factual-correctness",
        "FactualCorrectness",
        "F1, precision or recall of the answer's claims against the reference; a text without claims is skipped.",
        ("response", "reference"),
        settings=(
            choice("mode", "f1", "precision", "recall", about="what is computed"),
            _BETA,
            choice("atomicity", "low", "high", about="how finely claims are split"),
            choice("coverage", "low", "high", about="how much of the text becomes claims"),
        ),
    ),
    Row(
        "summary-score",
        "SummaryScore",
        "Share of questions about the context that the summary answers, averaged with its conciseness.",
        ("summarized", "response"),
        settings=(
            Setting("length_penalty", Annotated[bool, Param("whether conciseness counts")], True),
            number("coeff", 0.5, "the weight of conciseness", minimum=0.0, maximum=1.0),
        ),
    ),
    Row(
        "id-based-context-precision",
        ".IDBasedContextPrecision",
        "Share of the retrieved ids that are among the reference's.",
        ("retrieved_context_ids", "reference_context_ids"),
        asks=(),
        way="sample",
        may_be_empty=("reference_context_ids",),
    ),
    Row(
        "id-based-context-recall",
        ".IDBasedContextRecall",
        "Share of the reference's ids that were retrieved.",
        ("retrieved_context_ids", "reference_context_ids"),
        asks=(),
        way="sample",
        may_be_empty=("retrieved_context_ids",),
    ),
    Row(
        "non-llm-context-precision",
        ".NonLLMContextPrecisionWithReference",
        "Average precision of the retrieved texts that resemble a reference text, by edit distance.",
        ("retrieved_contexts", "reference_contexts"),
        asks=(),
        settings=(_THRESHOLD,),
        way="sample",
    ),
    Row(
        "non-llm-context-recall",
        ".NonLLMContextRecall",
        "Share of the reference texts that a retrieved text resembles, by edit distance.",
        ("retrieved_contexts", "reference_contexts"),
        asks=(),
        settings=(_THRESHOLD,),
        way="sample",
    ),
)
