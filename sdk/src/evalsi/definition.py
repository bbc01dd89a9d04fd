"""What an evaluator is, apart from its code: name, version, needs, outputs, params; and how to open it.

`evaluator` attaches a `Definition` to a function or class and leaves both as they were, so that they stay easy to test.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from evalsi.params import params_schema
from evalsi.score import ScoreError

Kind = Literal["pass", "number", "label"]
Scope = Literal["record", "dataset"]
FIELDS = ("input", "output", "reference", "context", "trajectory", "usage", "metadata", "provenance", "check")

_Evaluator = TypeVar("_Evaluator", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Output:
    """One score that an evaluator gives.

    Args:
        name: of the metric; "" means the evaluator's own name.
        kind: pass, number or label.
        unit: of a number, such as "ms".
        minimum, maximum: the range of a number, None where it is open.
        higher_is_better: the direction; None where there is none, as for a length.
    """

    name: str = ""
    kind: Kind = "number"
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    higher_is_better: bool | None = True

    def to_dict(self) -> dict[str, Any]:
        """As a table of `plugin.toml`; what is absent is left out."""
        table: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.unit:
            table["unit"] = self.unit
        if self.minimum is not None:
            table["minimum"] = self.minimum
        if self.maximum is not None:
            table["maximum"] = self.maximum
        if self.higher_is_better is not None:
            table["higher_is_better"] = self.higher_is_better
        return table


@dataclass(frozen=True, slots=True)
class Definition:
    """Everything about an evaluator that a catalog shows, and its code."""

    name: str
    version: str
    summary: str
    scope: Scope
    needs: tuple[str, ...]
    asks: tuple[str, ...]
    outputs: tuple[Output, ...]
    params: dict[str, Any]
    target: Any

    def to_dict(self) -> dict[str, Any]:
        """As a table of `plugin.toml`, and as `describe` answers."""
        return {
            "name": self.name,
            "version": self.version,
            "summary": self.summary,
            "scope": self.scope,
            "needs": list(self.needs),
            "asks": list(self.asks),
            "outputs": [output.to_dict() for output in self.outputs],
            "params": self.params,
        }


def evaluator(
    target: _Evaluator | None = None,
    /,
    *,
    name: str | None = None,
    version: str | int = 1,
    summary: str | None = None,
    scope: Scope = "record",
    needs: Iterable[str] = (),
    asks: Iterable[str] = (),
    outputs: Iterable[Output] = (),
) -> Any:
    """Make a function or a class an evaluator; it stays callable as before.

    Args:
        name: as used in `--evaluators`; the function's own name by default.
        version: bump it whenever a score may change; it enters every result and cache key.
        summary: one line for the catalog; the first line of the docstring by default.
        scope: "record" scores each record; "dataset" observes all and gives one score for the whole.
        needs: fields a record must have, else it is skipped: "output", "reference", "usage.latency_ms", …
        asks: what it asks of the kernel: "judge", "embed", "sandbox".
        outputs: what it returns; may stay empty, then the kind is taken from what it does return.

    Raises:
        TypeError: the signature does not fit.
        ValueError: a name of `needs` or `asks` is unknown.
    """

    def attach(actual: _Evaluator) -> _Evaluator:
        actual.__evalsi__ = _define(  # type: ignore[attr-defined]
            actual, name, str(version), summary, scope, tuple(needs), tuple(asks), tuple(outputs)
        )
        return actual

    return attach if target is None else attach(target)


def definition_of(target: Any) -> Definition:
    """The definition attached to a function or class; a plain function gets one from its name and signature.

    Raises:
        TypeError: the target cannot be an evaluator.
    """
    attached = getattr(target, "__evalsi__", None)
    if isinstance(attached, Definition) and attached.target is target:
        return attached
    if not callable(target):
        raise TypeError(f"{target!r} is no evaluator: pass a function, a class with score(), or a name.")
    return _define(target, None, "1", None, "record", (), (), ())


def _define(
    target: Any,
    name: str | None,
    version: str,
    summary: str | None,
    scope: Scope,
    needs: tuple[str, ...],
    asks: tuple[str, ...],
    outputs: tuple[Output, ...],
) -> Definition:
    own_name = str(name or getattr(target, "__name__", type(target).__name__))
    if own_name == "<lambda>":
        raise ValueError("A lambda has no name; write evaluator(name=…)(lambda record: …) or a function.")
    _check_needs(own_name, needs, asks)
    _check_outputs(own_name, outputs)
    if inspect.isclass(target):
        methods = ("observe",) if scope == "dataset" else ("score",)
        missing = [method for method in methods if not callable(getattr(target, method, None))]
        if missing:
            raise TypeError(f"{own_name}: a {scope}-scope class needs the method {missing[0]}(self, record).")
        if scope == "dataset" and not (hasattr(target, "aggregate") or hasattr(target, "combine")):
            raise TypeError(f"{own_name}: a dataset-scope class needs aggregate(self, states) or combine(self, totals).")
        has_init = target.__init__ is not object.__init__
        params = params_schema(target.__init__, ("self",)) if has_init else params_schema(lambda: None)
    else:
        if scope == "dataset":
            raise TypeError(f"{own_name}: a dataset-scope evaluator is a class with observe() and aggregate().")
        params = params_schema(target, record_arguments(target))
    doc = summary if summary is not None else (inspect.getdoc(target) or "").split("\n")[0]
    return Definition(own_name, version, doc, scope, needs, asks, outputs, params, target)


def record_arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's first arguments that are no params: the record and, when it is named so, `ctx`.

    Raises:
        TypeError: the function takes no record.
    """
    names = list(inspect.signature(function).parameters)
    if not names:
        raise TypeError(f"{getattr(function, '__qualname__', function)} takes no record; write def name(record): …")
    return (names[0], "ctx") if "ctx" in names else (names[0],)


def _check_needs(name: str, needs: Sequence[str], asks: Sequence[str]) -> None:
    for need in needs:
        if need.split(".")[0] not in FIELDS:
            raise ValueError(f"{name}: needs names {need!r}; the fields are {', '.join(FIELDS)}.")
    for ask in asks:
        if ask not in ("judge", "embed", "sandbox"):
            raise ValueError(f"{name}: asks names {ask!r}; an evaluator can ask for judge, embed and sandbox.")


def _check_outputs(name: str, outputs: Sequence[Output]) -> None:
    names = [output.name for output in outputs]
    if len(set(names)) < len(names):
        raise ScoreError(f"{name}: two outputs have one name.")
