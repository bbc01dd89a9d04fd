"""A judge that answers any question of DeepEval's by its text alone, so that equal prompts get equal answers.

Used for the framework alone and for the evaluators. It must not know a metric.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
from typing import Any

from deepeval.models import DeepEvalBaseLLM
from pydantic import BaseModel

from evalsi import Question
from evalsi_deepeval.question_schema import Demands, question_schema

ITEMS = 3
"""How long every list is: what the records hold, too, so that there is a verdict for each."""


def answer(prompt: str, schema: dict[str, Any]) -> Any:
    """An answer that fits the schema, drawn by the prompt."""
    return _value("", schema, random.Random(hashlib.sha256(prompt.encode()).digest()), prompt)


def judge(question: Question) -> Any:
    """The same for a question to the kernel's judge."""
    return answer(question.messages[0]["content"], dict(question.schema or {"type": "string"}))


class ScriptedModel(DeepEvalBaseLLM):  # type: ignore[misc] # As in the adapter.
    """The same for DeepEval without the adapter."""

    def __init__(self) -> None:
        super().__init__("scripted")
        self.prompts: list[str] = []

    def load_model(self) -> ScriptedModel:
        return self

    def get_model_name(self) -> str:
        return "scripted"

    def generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        self.prompts.append(prompt)
        return self._answered(prompt, schema)

    async def a_generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        self.prompts.append(prompt)
        # An answer always takes a while; that of the kernel's stand-in is ready after one turn of the loop, too.
        await asyncio.sleep(0)
        return self._answered(prompt, schema)

    def _answered(self, prompt: str, schema: type[BaseModel] | None) -> Any:
        if schema is None:
            return answer(prompt, {"type": "string"})
        return schema.model_validate(answer(prompt, question_schema(schema, Demands())))


def _value(name: str, schema: dict[str, Any], draw: random.Random, prompt: str) -> Any:
    if name == "winner":
        return next(who for who, shown in re.findall(r'"(\w+)": "(.*)"', prompt) if "At noon" in shown)
    if name == "answers":
        return [draw.choice(["yes", "no"]) for _ in range(ITEMS)]
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if "anyOf" in schema:
        return _value(name, schema["anyOf"][0], draw, prompt)
    kind = schema["type"]
    if kind == "object":
        parts = schema.get("properties", {"name": {"type": "string"}})
        return {key: _value(key, part, draw, prompt) for key, part in parts.items()}
    if kind == "array":
        return [_value(name, schema["items"], draw, prompt) for _ in range(ITEMS)]
    drawn = {
        "string": f"{name} {draw.randrange(1000)}",
        "number": draw.choice([0.0, 0.25, 0.5, 1.0]),
        "integer": 1,
        "boolean": draw.random() < 0.5,
    }
    return drawn[kind]
