"""A judge by script, the same for RAGAS alone and for our evaluators: its answers depend on the question's words only.

Where a question asks about several things, some are right and some are not, so that scores lie between 0 and 1.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

from evalsi import Question, Record

PARAMS: Mapping[str, dict[str, Any]] = {
    "aspect-critic": {"definition": "harmfulness"},
    "aspect-critic-of-conversation": {"definition": "Is the agent polite?"},
    "simple-criteria": {"definition": "From 0 to 10, how clear is it?"},
    "simple-criteria-of-conversation": {"definition": "From 0 to 10, how patient is the agent?"},
    "discrete-metric": {"prompt": "Is {response} an answer to {user_input}?"},
    "numeric-metric": {"prompt": "From 0 to 1, is {response} like {reference} given {retrieved_contexts}?"},
}
"""Params of the evaluators that have no default for one."""

CALLS = [{"name": "timetable", "args": {"day": "Monday"}}, {"name": "fare", "args": {"animal": "dog", "count": 2}}]


def record(number: int) -> Record:
    """One of some records about a ferry, each with everything that any metric takes."""
    animal = ("dog", "cat", "goat", "parrot", "horse")[number % 5]
    return Record(
        id=f"ferry-{number}",
        input=f"May my {animal} ride the ferry {number}?",
        output=f'The board says "every {animal} rides for free". It leaves at {number}. The crew is kind.',
        reference=f"Each {animal} rides free. The ferry leaves at {number}.",
        context=[f"Every {animal} rides for free.", "The sea is blue.", f"Ferry {number} leaves at {number}."],
        trajectory=[
            {"type": "tool", "name": "timetable", "input": {"day": "Monday"}, "output": f"at {number}"},
            {"type": "tool", "name": "fare", "input": {"animal": animal, "count": 2}, "output": {"usd": 0}},
        ],
        metadata={
            "reference_contexts": [f"Every {animal} rides for free.", "Ferries are boats."],
            "reference_tool_calls": CALLS,
            "reference_topics": ["ferries", "animals"],
            "rubrics": {"score1_description": "It is wrong.", "score5_description": "It is right."},
            "retrieved_context_ids": ["a", number, "c"],
            "reference_context_ids": ["a", 3, "z"],
        },
    )


RECORDS = [record(number) for number in range(8)]


def answer(prompt: str, title: str) -> dict[str, Any]:
    """The answer to a question in which RAGAS expects an object of the class `title`."""
    return _ANSWERS[title](prompt)


def judge(question: Question) -> dict[str, Any]:
    """The same as a judge of `evalsi.testing.Bench`."""
    assert question.schema is not None
    return answer(question.messages[0]["content"], question.schema["title"])


def vector(text: str) -> list[float]:
    """A vector of a text, of no meaning."""
    return [float(crc32(text.encode(), salt) % 97 + 1) for salt in range(4)]


def _draw(choices: int, *texts: str) -> int:
    return crc32("\n".join(texts).encode()) % choices


def _asked(prompt: str, key: str) -> list[str]:
    """What the question asks about, from the JSON at its end."""
    written = prompt.rpartition("\ninput: ")[2].removesuffix("\nOutput: ")
    listed: list[str] = json.loads(written)[key]
    return listed


def _sentences(prompt: str) -> list[str]:
    return [f"Statement {number} of {_draw(1000, prompt)}." for number in range(2 + _draw(3, prompt))]


def _verdicts(prompt: str) -> dict[str, Any]:
    return {
        "statements": [
            {"statement": one, "reason": "Because.", "verdict": _draw(2, one, prompt[-200:])}
            for one in _asked(prompt, "statements")
        ]
    }


def _classified(prompt: str) -> dict[str, Any]:
    kinds: dict[str, list[dict[str, str]]] = {"TP": [], "FP": [], "FN": []}
    for one in _asked(prompt, "answer"):
        kinds[("TP", "FP")[_draw(2, one)]].append({"statement": one, "reason": "Because."})
    kinds["FN"].append({"statement": "The sea is blue.", "reason": "Because."})
    return kinds


_ANSWERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "StatementGeneratorOutput": lambda prompt: {"statements": _sentences(prompt)},
    "ClaimDecompositionOutput": lambda prompt: {"claims": _sentences(prompt)},
    "NLIStatementOutput": _verdicts,
    "StatementFaithfulnessOutput": _verdicts,
    "ClassificationWithReason": _classified,
    "AnswerRelevanceOutput": lambda prompt: {"question": f"Why {_draw(9, prompt)}?", "noncommittal": 0},
    "ContextPrecisionOutput": lambda prompt: {"reason": "Because.", "verdict": _draw(2, prompt)},
    "ContextRecallOutput": lambda prompt: {
        "classifications": [
            {"statement": one, "reason": "Because.", "attributed": _draw(2, one)} for one in _sentences(prompt)
        ]
    },
    "EntitiesList": lambda prompt: {"entities": ["Ferry", *(f"Entity {_draw(5, prompt, mark)}" for mark in "ab")]},
    "AnswerAccuracyOutput": lambda prompt: {"rating": 2 * _draw(3, prompt)},
    "ContextRelevanceOutput": lambda prompt: {"rating": _draw(3, prompt)},
    "ResponseGroundednessOutput": lambda prompt: {"rating": _draw(3, prompt)},
    "ExtractedKeyphrases": lambda prompt: {"keyphrases": _sentences(prompt)},
    "QuestionsGenerated": lambda prompt: {"questions": [f"Is it {one}" for one in _asked(prompt, "keyphrases")]},
    "AnswersGenerated": lambda prompt: {"answers": [str(_draw(2, one)) for one in _asked(prompt, "questions")]},
    "SQLEquivalenceOutput": lambda prompt: {
        "response_explanation": "It selects.",
        "reference_explanation": "It selects too.",
        "equivalent": bool(_draw(2, prompt)),
    },
    "WorkflowOutput": lambda prompt: {"user_goal": f"Goal {_draw(9, prompt)}", "end_state": f"End {_draw(9, prompt)}"},
    "CompareOutcomeOutput": lambda prompt: {"reason": "Because.", "verdict": str(_draw(2, prompt))},
    "TopicExtractionOutput": lambda prompt: {"topics": _sentences(prompt)},
    "TopicRefusedOutput": lambda prompt: {"refused_to_answer": bool(_draw(2, prompt))},
    "TopicClassificationOutput": lambda prompt: {
        "classifications": [bool(_draw(2, one, "topic")) for one in _asked(prompt, "topics")]
    },
    "RubricScoreOutput": lambda prompt: {"feedback": "So so.", "score": 1 + _draw(5, prompt)},
    "InstanceRubricScoreOutput": lambda prompt: {"feedback": "So so.", "score": 1 + _draw(5, prompt)},
    "AspectCriticOutput": lambda prompt: {"reason": "Because.", "verdict": _draw(2, prompt)},
    "SimpleCriteriaOutput": lambda prompt: {"reason": "Because.", "score": _draw(11, prompt)},
    "DiscreteResponseModel": lambda prompt: {"reason": "Because.", "value": ("pass", "fail")[_draw(2, prompt)]},
    "NumericResponseModel": lambda prompt: {"reason": "Because.", "value": _draw(11, prompt) / 10},
}
