"""An evaluator opened with params: one callable that takes a record, ready for the hot loop.

It must not know the wire; the host loop does.
"""

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
"""The fields that may hold images and other media."""
_IN_TEXT = frozenset(("judge", "embed"))


class Opened(NamedTuple):
    """One session: `score` gives a record's result (or its state, at dataset scope); `instance` holds the params.

    `promise` is what the code says that it returns, as a result of a record or of the whole; `raised` are the places
    where it raised exceptions so far.
    """

    definition: Definition
    score: Callable[[Record], Any]
    is_async: bool
    instance: Any
    promise: Promise | None = None
    raised: set[Any] | None = None

    def check_result(self, result: Any) -> None:
        """See that a result is of a kind that the code says that it returns; raises `ScoreError`."""
        if self.promise is not None and type(result) not in self.promise.types:
            self.promise.check(result)

    def check_needs(self, record: Record) -> None:
        """Skip a record that lacks a declared field, or that hides a part of one from the model that is asked.

        Raises:
            MissingField: it lacks the field.
            Skip: the evaluator asks a judge or for embeddings, and the field holds an image or the like.
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
        """Whether it asks a model, which is shown the text of a record's fields and nothing else."""
        return not _IN_TEXT.isdisjoint(self.definition.asks)


def open_evaluator(definition: Definition, params: dict[str, Any], context: Context | None = None) -> Opened:
    """Bind the params.

    Raises:
        evalsi.ParamError: a class's constructor refused a value.
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
    """The score of the whole from the states of its records."""
    instance = opened.instance
    if hasattr(instance, "combine"):
        return instance.combine(total(states))
    return instance.aggregate(states)


def total(states: Sequence[Sequence[float]]) -> list[float]:
    """The element-wise sum of additive states, without rounding on the way, so that their order does not matter.

    Raises:
        ScoreError: the states are not lists of numbers, all of one length.
    """
    try:
        return [fsum(column) for column in zip(*states, strict=True)]
    except (TypeError, ValueError) as error:
        raise ScoreError("combine() needs states that are lists of numbers, all of one length.") from error


def _check_names(definition: Definition, params: dict[str, Any]) -> None:
    known = definition.params["properties"]
    for name in params:
        if name not in known:
            raise TypeError(f"{definition.name} has no param {name!r}; it has {', '.join(known) or 'none'}")
    for name in definition.params.get("required", ()):
        if name not in params:
            raise TypeError(f"{definition.name} needs the param {name!r}{did_you_mean(name)}")


def _planned(instance: Any, context: Context | None) -> Callable[[Record], Awaitable[Any]]:
    """The score of a class with `plan` and `reduce`: its questions asked at once, its answer made of the replies."""

    async def score(record: Record) -> Any:
        assert context is not None  # Whoever opens an evaluator that asks brings somebody to ask.
        replies = await context.of(record).judge_all(instance.plan(record))
        return reduced(instance, record, replies)

    return score


def reduced(instance: Any, record: Record, replies: Sequence[JudgeReply | AskError]) -> Any:
    """What `reduce` makes of the replies; a question that failed is raised, and fails the record."""
    for reply in replies:
        if isinstance(reply, AskError):
            raise reply
    return instance.reduce(record, replies)
