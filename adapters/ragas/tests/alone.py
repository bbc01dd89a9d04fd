"""RAGAS alone: each metric made and called as its own documentation does, with a judge by script and no evalsi.

Nothing here reads the adapter's table, so that a wrong row shows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import ragas.metrics as older
from adapters.ragas.tests.scripted import CALLS, PARAMS, answer, vector
from ragas import MultiTurnSample, SingleTurnSample
from ragas.embeddings.base import BaseRagasEmbedding
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from ragas.metrics import collections as new
from ragas.metrics._aspect_critic import AspectCritic, harmfulness
from ragas.metrics._context_precision import IDBasedContextPrecision, NonLLMContextPrecisionWithReference
from ragas.metrics._context_recall import IDBasedContextRecall, NonLLMContextRecall
from ragas.metrics._simple_criteria import SimpleCriteriaScore

from evalsi import Record


class Scripted(InstructorBaseRagasLLM):  # type: ignore[misc]  # RAGAS ships no types here.
    """The judge by script."""

    is_async = True

    def generate(self, prompt: str, response_model: Any) -> Any:
        return response_model.model_validate(answer(prompt, response_model.__name__))

    async def agenerate(self, prompt: str, response_model: Any) -> Any:
        return self.generate(prompt, response_model)


class Vectors(BaseRagasEmbedding):  # type: ignore[misc]  # As above.
    """The embedding model by script."""

    def embed_text(self, text: str, **_: Any) -> list[float]:
        return vector(text)

    async def aembed_text(self, text: str, **_: Any) -> list[float]:
        return vector(text)


LLM, VECTORS = Scripted(), Vectors()


class Row:
    """A record as RAGAS' data sets have it."""

    def __init__(self, record: Record) -> None:
        metadata = record.metadata
        self.question = record.input.as_text()
        self.response = record.output.as_text()
        self.reference = record.reference_texts[0]
        self.contexts = [one.as_text() for one in record.context]
        self.reference_contexts = metadata["reference_contexts"]
        self.rubrics = metadata["rubrics"]
        self.ids = metadata["retrieved_context_ids"], metadata["reference_context_ids"]
        self.calls = [ToolCall(**call) for call in CALLS]
        first, second = record.trajectory
        self.talk = [
            HumanMessage(content=self.question),
            AIMessage(content="", tool_calls=[ToolCall(name="timetable", args=first["input"])]),
            ToolMessage(content=first["output"]),
            AIMessage(content="", tool_calls=[ToolCall(name="fare", args=second["input"])]),
            ToolMessage(content='{"usd": 0}'),
            AIMessage(content=self.response),
        ]

    @property
    def asked(self) -> dict[str, Any]:
        return {"user_input": self.question, "response": self.response}

    @property
    def pair(self) -> dict[str, Any]:
        return {"reference": self.reference, "response": self.response}

    @property
    def everything(self) -> dict[str, Any]:
        return {
            **self.asked,
            "retrieved_contexts": self.contexts,
            "reference_contexts": self.reference_contexts,
            "reference": self.reference,
        }


async def _value(result: Awaitable[Any]) -> Any:
    return (await result).value


def _single(metric: Any, **fields: Any) -> Awaitable[Any]:
    scored: Awaitable[Any] = metric.single_turn_ascore(SingleTurnSample(**fields))
    return scored


def _multi(metric: Any, **fields: Any) -> Awaitable[Any]:
    scored: Awaitable[Any] = metric.multi_turn_ascore(MultiTurnSample(**fields))
    return scored


def _aspect(name: str) -> Any:
    named = PARAMS[name]["definition"]
    return AspectCritic("aspect", harmfulness.definition if named == "harmfulness" else named, llm=LLM)


def _criteria(name: str) -> Any:
    return SimpleCriteriaScore("criteria", PARAMS[name]["definition"], llm=LLM)


ALONE: dict[str, Callable[[Row], Awaitable[Any]]] = {
    "faithfulness": lambda row: _value(new.Faithfulness(LLM).ascore(**row.asked, retrieved_contexts=row.contexts)),
    "answer-relevancy": lambda row: _value(new.AnswerRelevancy(LLM, VECTORS).ascore(**row.asked)),
    "context-precision": lambda row: _value(
        new.ContextPrecision(LLM).ascore(row.question, row.reference, row.contexts)
    ),
    "context-utilization": lambda row: _value(
        new.ContextUtilization(LLM).ascore(row.question, row.response, row.contexts)
    ),
    "context-recall": lambda row: _value(new.ContextRecall(LLM).ascore(row.question, row.contexts, row.reference)),
    "context-entity-recall": lambda row: _value(new.ContextEntityRecall(LLM).ascore(row.reference, row.contexts)),
    "context-relevance": lambda row: _value(new.ContextRelevance(LLM).ascore(row.question, row.contexts)),
    "response-groundedness": lambda row: _value(new.ResponseGroundedness(LLM).ascore(row.response, row.contexts)),
    "noise-sensitivity": lambda row: _value(
        new.NoiseSensitivity(LLM).ascore(row.question, row.response, row.reference, row.contexts)
    ),
    "quoted-spans-alignment": lambda row: _value(new.QuotedSpansAlignment().ascore(row.response, row.contexts)),
    "answer-accuracy": lambda row: _value(new.AnswerAccuracy(LLM).ascore(row.question, row.response, row.reference)),
    "answer-correctness": lambda row: _value(
        new.AnswerCorrectness(LLM, VECTORS).ascore(row.question, row.response, row.reference)
    ),
    "factual-correctness": lambda row: _value(new.FactualCorrectness(LLM).ascore(row.response, row.reference)),
    "summary-score": lambda row: _value(new.SummaryScore(LLM).ascore(row.contexts, row.response)),
    "id-based-context-precision": lambda row: _single(
        IDBasedContextPrecision(), retrieved_context_ids=row.ids[0], reference_context_ids=row.ids[1]
    ),
    "id-based-context-recall": lambda row: _single(
        IDBasedContextRecall(), retrieved_context_ids=row.ids[0], reference_context_ids=row.ids[1]
    ),
    "non-llm-context-precision": lambda row: _single(
        NonLLMContextPrecisionWithReference(),
        retrieved_contexts=row.contexts,
        reference_contexts=row.reference_contexts,
    ),
    "non-llm-context-recall": lambda row: _single(
        NonLLMContextRecall(), retrieved_contexts=row.contexts, reference_contexts=row.reference_contexts
    ),
    "semantic-similarity": lambda row: _value(new.SemanticSimilarity(VECTORS).ascore(**row.pair)),
    "exact-match": lambda row: _value(new.ExactMatch().ascore(**row.pair)),
    "string-presence": lambda row: _value(new.StringPresence().ascore(**row.pair)),
    "string-similarity": lambda row: _value(new.NonLLMStringSimilarity().ascore(**row.pair)),
    "bleu-score": lambda row: _value(new.BleuScore().ascore(**row.pair)),
    "chrf-score": lambda row: _value(new.CHRFScore().ascore(**row.pair)),
    "sql-semantic-equivalence": lambda row: _value(
        new.SQLSemanticEquivalence(LLM).ascore(row.response, row.reference, row.reference_contexts)
    ),
    "agent-goal-accuracy": lambda row: _value(new.AgentGoalAccuracyWithReference(LLM).ascore(row.talk, row.reference)),
    "agent-goal-accuracy-without-reference": lambda row: _value(
        new.AgentGoalAccuracyWithoutReference(LLM).ascore(row.talk)
    ),
    "tool-call-accuracy": lambda row: _value(new.ToolCallAccuracy().ascore(row.talk, row.calls)),
    "tool-call-f1": lambda row: _value(new.ToolCallF1().ascore(row.talk, row.calls)),
    "topic-adherence": lambda row: _value(new.TopicAdherence(LLM).ascore(row.talk, ["ferries", "animals"])),
    "domain-specific-rubrics": lambda row: _value(
        new.DomainSpecificRubrics(LLM).ascore(
            **row.asked, retrieved_contexts=row.contexts, reference_contexts=row.reference_contexts
        )
    ),
    "domain-specific-rubrics-with-reference": lambda row: _value(
        new.DomainSpecificRubrics(LLM, with_reference=True).ascore(**row.everything)
    ),
    "instance-specific-rubrics": lambda row: _value(
        new.InstanceSpecificRubrics(LLM).ascore(row.rubrics, **row.everything)
    ),
    "aspect-critic": lambda row: _single(_aspect("aspect-critic"), **row.everything),
    "aspect-critic-of-conversation": lambda row: _multi(_aspect("aspect-critic-of-conversation"), user_input=row.talk),
    "simple-criteria": lambda row: _single(_criteria("simple-criteria"), **row.everything),
    "simple-criteria-of-conversation": lambda row: _multi(
        _criteria("simple-criteria-of-conversation"), user_input=row.talk, reference=row.reference
    ),
    "discrete-metric": lambda row: _value(
        older.DiscreteMetric("discrete", prompt=PARAMS["discrete-metric"]["prompt"]).ascore(llm=LLM, **row.asked)
    ),
    "numeric-metric": lambda row: _value(
        older.NumericMetric("numeric", allowed_values=(0.0, 1.0), prompt=PARAMS["numeric-metric"]["prompt"]).ascore(
            llm=LLM, response=row.response, reference=row.reference, retrieved_contexts=row.contexts
        )
    ),
}
