"""An evaluator opened with params: one callable of a record, for the scoring loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsi.binding import binding_of, did_you_mean
from evalsi.definition import Definition
from evalsi.judging import AskError, JudgeReply
from evalsi.promise import Promise, promise_of
from evalsi.record import Record
from evalsi.score import MissingField, ScoreError
from evalsi.signatures import is_async

if TYPE_CHECKING:
    from evalsi.context import Context


CONTENT_FIELDS = frozenset(("input", "output", "reference", "context"))
"""Fields that may contain images and other media."""
_IN_TEXT = frozenset(("judge", "embed"))


class Opened(NamedTuple):
    """An evaluator opened for one session.

    Args:
        definition: definition of the evaluator.
        score: returns the result of a record, or its state at dataset scope.
        is_async: whether `score` returns a coroutine.
        instance: the instance of a class, with its params; None for a function.
        promise: the declared return type of the final result; None if unknown.
        raised: locations of the exceptions raised so far; None logs every traceback.
    """

    definition: Definition
    score: Callable[[Record], Any]
    is_async: bool
    instance: Any
    promise: Promise | None = None
    raised: set[Any] | None = None

    def check_result(self, result: Any) -> None:
        """Raise `ScoreError` if a result does not have the declared return type."""
        if self.promise is not None and type(result) not in self.promise.types:
            self.promise.check(result)

    def check_needs(self, record: Record) -> None:
        """Skip a record that lacks a needed field, or that has media which a model would not be shown.

        Raises:
            MissingField: the record lacks a needed field.
            Skip: the evaluator calls a judge or an embedding model, and a needed field contains media.
        """
        wire = record.wire
        needs = self.definition.needs
        for need in needs:
            if need not in wire and not record.has(need):
                raise MissingField(need)
        if self.asks_in_text:
            record.require_shown(*(need for need in needs if need in CONTENT_FIELDS))

    @property
    def asks_in_text(self) -> bool:
        """Whether the evaluator calls a model, which is shown only the text of a record's fields."""
        return not _IN_TEXT.isdisjoint(self.definition.asks)


def open_evaluator(definition: Definition, params: dict[str, Any], context: Context | None = None) -> Opened:
    """Open an evaluator with params.

    Raises:
        evalsi.ParamError: the constructor of a class rejected a value.
        TypeError: a param is missing or unknown.
    """
    _check_names(definition, params)
    target = definition.target
    if isinstance(target, type):
        instance: Any = target(**params)
        if hasattr(instance, "plan"):
            return Opened(definition, _planned(instance, context), True, instance, promise_of(instance.reduce), set())
        if definition.scope == "dataset":
            scoring, promising = instance.observe, getattr(instance, "combine", None) or instance.aggregate
        else:
            scoring = promising = instance.score
        scored = binding_of(scoring).caller(scoring, context)
        return Opened(definition, scored, is_async(scoring), instance, promise_of(promising), set())
    bound = partial(target, **params) if params else target
    scored = binding_of(target).caller(bound, context)
    return Opened(definition, scored, is_async(target), None, promise_of(target), set())


def aggregate(opened: Opened, states: Sequence[Any]) -> Any:
    """Return the score of the whole data set from the states of its records."""
    instance = opened.instance
    if hasattr(instance, "combine"):
        return instance.combine(total(states))
    return instance.aggregate(states)


def total(states: Sequence[Sequence[float]]) -> list[float]:
    """Return the element-wise sum of additive states. It is exact up to the final rounding, so order does not matter.

    Raises:
        ScoreError: the states are not lists of numbers of equal length.
    """
    try:
        return [fsum(column) for column in zip(*states, strict=True)]
    except (TypeError, ValueError) as error:
        raise ScoreError("combine() needs states that are lists of numbers of equal length.") from error


def _check_names(definition: Definition, params: dict[str, Any]) -> None:
    known = definition.params["properties"]
    for name in params:
        if name not in known:
            raise TypeError(f"{definition.name} has no param {name!r}; its params: {', '.join(known) or 'none'}")
    for name in definition.params.get("required", ()):
        if name not in params:
            raise TypeError(f"{definition.name} needs the param {name!r}{did_you_mean(name)}")


def _planned(instance: Any, context: Context | None) -> Callable[[Record], Awaitable[Any]]:
    """Return the score function of a class with `plan` and `reduce`: ask all questions at once, then reduce."""

    async def score(record: Record) -> Any:
        assert context is not None  # An evaluator with questions is always opened with a context.
        replies = await context.of(record).judge_all(instance.plan(record))
        return reduced(instance, record, replies)

    return score


def reduced(instance: Any, record: Record, replies: Sequence[JudgeReply | AskError]) -> Any:
    """Return the result of `reduce` for the replies. Raise the error of a question that failed."""
    for reply in replies:
        if isinstance(reply, AskError):
            raise reply
    return instance.reduce(record, replies)
