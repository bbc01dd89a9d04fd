"""The model that DeepEval asks: every prompt becomes a question to the run's judge.

One for each record. The first failure is kept, as DeepEval may wrap or swallow it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from deepeval.models import DeepEvalBaseLLM
from pydantic import BaseModel, ValidationError

from evalsi import AskError, Context, JudgeReply, Question
from evalsi_deepeval.question_schema import Demands, question_schema


class UnusableReply(Exception):
    """The judge's reply, or DeepEval's question, is none that a score can rest on."""


class JudgeModel(DeepEvalBaseLLM):  # type: ignore[misc] # DeepEval is not installed where types are checked.
    """Asks the kernel.

    Args:
        context: of the record; None only names the model, where a metric is built to check its params.
        demands: what the answer to a class must hold, worked out when the question is asked.
    """

    def __init__(self, context: Context | None = None, demands: Callable[[type[BaseModel]], Demands] | None = None):
        super().__init__("judge")
        self.failure: Exception | None = None
        self.replies: list[str] = []
        self._context = context
        self._demands = demands

    def load_model(self) -> JudgeModel:
        """There is nothing to load."""
        return self

    def get_model_name(self) -> str:
        """The name under which DeepEval logs it."""
        return "judge"

    def generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """As `a_generate`, for the metrics that wait for an answer in the midst of their measuring."""
        with self._failures():
            context, asked = self._question(prompt, schema)
            return self._read(context.judge_and_wait(asked.messages, schema=asked.schema), schema)

    async def a_generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """The answer as an instance of the schema, as text without one; after a failure that failure again.

        What asks after a failure is thus not paid for.
        """
        with self._failures():
            context, asked = self._question(prompt, schema)
            return self._read(await context.judge(asked.messages, schema=asked.schema), schema)

    def _question(self, prompt: str, schema: type[BaseModel] | None) -> tuple[Context, Question]:
        if self._context is None or self._demands is None or not isinstance(prompt, str):
            raise UnusableReply("DeepEval asked for something other than an answer to a text.")
        form = None if schema is None else question_schema(schema, self._demands(schema))
        return self._context, Question([{"role": "user", "content": prompt}], form)

    def _read(self, reply: JudgeReply, schema: type[BaseModel] | None) -> Any:
        if reply.ref:
            self.replies.append(reply.ref)
        if schema is None:
            return reply.text
        try:
            return schema.model_validate(reply.value)
        except ValidationError as error:
            raise UnusableReply(f"the judge's reply is no {schema.__name__}: {error}") from error

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Keep what fails, and let nothing out that DeepEval takes for something else."""
        if self.failure is not None:
            raise self.failure
        try:
            yield
        except (AskError, UnusableReply) as error:
            self.failure = self.failure or error
            raise
        except Exception as error:
            # After a TypeError or an AttributeError, DeepEval asks anew, and without a schema.
            self.failure = self.failure or UnusableReply(f"{type(error).__name__}: {error}")
            raise self.failure from error
