"""The `evaluator` decorator and the definition it attaches: name, version, needs, outputs and params.

The decorated function or class is otherwise unchanged, so that it can be tested directly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, Literal, NamedTuple, Self, TypeVar, get_args, overload

from evalsi.binding import FIELDS_BY_NAME, Binding, binding_of, method_binding
from evalsi.params import function_of, params_schema
from evalsi.signatures import arguments_of, is_async

Kind = Literal["pass", "number", "label"]
Scope = Literal["record", "dataset"]
FIELDS = ("input", "output", "reference", "context", "trajectory", "usage", "metadata", "provenance", "check")
CAPABILITIES = ("judge", "embed", "sandbox")

_Evaluator = TypeVar("_Evaluator", bound=Callable[..., Any])


class _Output(NamedTuple):
    name: str
    kind: Kind
    unit: str
    minimum: float | None
    maximum: float | None
    higher_is_better: bool | None


class Output(_Output):
    """One score that an evaluator returns.

    Args:
        name: name of the metric; "" means the evaluator's name.
        kind: "pass", "number" or "label".
        unit: unit of a number, such as "ms".
        minimum: smallest possible number; None if there is no lower bound.
        maximum: largest possible number; None if there is no upper bound.
        higher_is_better: whether higher is better; None if neither direction is better, as for a length.

    Raises:
        ValueError: the kind is unknown, the range is empty or infinite, or a kind other than number has one.
    """

    __slots__ = ()

    def __new__(  # noqa: PLR0917 -- one argument for each field.
        cls,
        name: str = "",
        kind: Kind = "number",
        unit: str = "",
        minimum: float | None = None,
        maximum: float | None = None,
        higher_is_better: bool | None = True,
    ) -> Self:
        who = f"The output {name!r}"
        if kind not in get_args(Kind):
            raise ValueError(f"{who} has the kind {kind!r}; it is pass, number or label.")
        bounds = [bound for bound in (minimum, maximum) if bound is not None]
        if kind != "number" and (bounds or unit):
            raise ValueError(f"{who} is not a number, so it has no unit and no range. Leave them out.")
        if not all(map(isfinite, bounds)):
            raise ValueError(f"{who} has a bound that is not finite. Leave out a bound that does not exist.")
        if sorted(bounds) != bounds:
            raise ValueError(f"{who} has a minimum above its maximum.")
        return super().__new__(cls, name, kind, unit, minimum, maximum, higher_is_better)

    def to_dict(self) -> dict[str, Any]:
        """Return the output as a table of `plugin.toml`, without absent parts."""
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


class Definition(NamedTuple):
    """The metadata of an evaluator that the catalog shows, and its code."""

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
        """Return the definition as a table of `plugin.toml`, which is also the form of `describe`."""
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


@overload
def evaluator(target: _Evaluator, /) -> _Evaluator: ...


@overload
def evaluator(
    *,
    name: str | None = None,
    version: str | int = 1,
    summary: str | None = None,
    scope: Scope = "record",
    needs: Iterable[str] = (),
    asks: Iterable[str] = (),
    outputs: Iterable[Output] = (),
) -> Callable[[_Evaluator], _Evaluator]: ...


def evaluator(
    target: Any = None,
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
    """Turn a function or a class into an evaluator. It stays callable as before.

    Args:
        target: the function or class; omitted if the decorator is called with arguments.
        name: name for `--evaluators`; the function's name by default.
        version: version of the evaluator, part of every result and cache key. Increase it if scores may change.
        summary: one line for the catalog; the first line of the docstring by default.
        scope: "record" scores each record; "dataset" observes all records and returns one score.
        needs: fields that a record must have, such as "output" or "usage.latency_ms". A record that lacks one is
            skipped. Arguments named after a field, without a default, are added.
        asks: capabilities that the evaluator uses: "judge", "embed", "sandbox".
        outputs: the scores that the evaluator returns. If empty, their kind is inferred from the results.

    Raises:
        TypeError: the signature does not fit.
        ValueError: the name is invalid, or one of `needs` or `asks` is unknown.
    """

    def attach(actual: _Evaluator) -> _Evaluator:
        definition = _define(
            actual,
            name=name,
            version=str(version),
            summary=summary,
            scope=scope,
            needs=needs,
            asks=asks,
            outputs=outputs,
        )
        try:
            actual.__evalsi__ = definition  # type: ignore[attr-defined]
        except AttributeError as error:
            raise TypeError(f"{definition.name}: {actual!r} takes no attributes. Wrap it in a function.") from error
        return actual

    return attach if target is None else attach(target)


def attached_to(target: Any) -> Definition | None:
    """Return the definition that `evaluator` attached to this target, not to one of its base classes."""
    attached = getattr(target, "__evalsi__", None)
    return attached if isinstance(attached, Definition) and attached.target is target else None


def definition_of(target: Any) -> Definition:
    """Return the definition of a function or class, derived from its name and signature if none is attached.

    Raises:
        TypeError: the target cannot be an evaluator.
    """
    attached = attached_to(target)
    if attached is not None:
        return attached
    if not callable(target):
        hint = (
            "Pass its class, and its params separately." if hasattr(target, "score") else "Pass a function or a class."
        )
        raise TypeError(f"{target!r} is not an evaluator.{foreign_form(target) or f' {hint}'}")
    return _define(target)


def _define(
    target: Any,
    *,
    name: str | None = None,
    version: str = "1",
    summary: str | None = None,
    scope: Scope = "record",
    needs: Iterable[str] = (),
    asks: Iterable[str] = (),
    outputs: Iterable[Output] = (),
) -> Definition:
    subject = _subject(target)
    own_name: str = name or subject.__name__
    if own_name == "<lambda>":
        raise TypeError("A lambda has no name. Write evaluator(name=…)(lambda record: …), or use a function.")
    if not _can_be_named(own_name):
        raise ValueError(f"The name {own_name!r} is invalid. Use letters, digits, - and _, or publisher/name.")
    if not _is_version(version):
        raise ValueError(f"{own_name}: the version {version!r} is invalid. Write an integer, or a version like 1.0.0.")
    if scope not in get_args(Scope):
        raise ValueError(f"{own_name}: the scope is {scope!r}; it is record or dataset.")
    if isinstance(target, type):
        binding = _check_methods(own_name, target, scope)
        params = _constructor_params(target)
    elif scope == "dataset":
        raise TypeError(f"{own_name}: a dataset-scope evaluator is a class with observe() and aggregate().")
    else:
        binding = binding_of(target)
        params = params_schema(target, binding.names)
    text = _docstring(subject) if summary is None else summary
    declared = _words(own_name, "needs", needs, FIELDS)
    implied = () if binding is None else binding.needs
    return Definition(
        own_name,
        version,
        text.strip().split("\n")[0],
        scope,
        tuple(dict.fromkeys((*declared, *implied))),
        _words(own_name, "asks", asks, CAPABILITIES),
        _distinct(own_name, outputs),
        params,
        target,
    )


def _can_be_named(name: str) -> bool:
    """Return whether the name works on the command line, where blank, comma, colon, dot, @ and = have a meaning."""
    return all(part and all(one.isalnum() or one in "-_" for one in part) for part in name.split("/"))


def _is_version(text: str) -> bool:
    return text.isascii() and text[:1].isalnum() and all(one.isalnum() or one in "._+-" for one in text)


def _docstring(subject: Any) -> str:
    if subject.__doc__ is None:
        import inspect  # Finds an inherited docstring. Imported late: rarely needed.

        return inspect.getdoc(subject) or ""
    return subject.__doc__.expandtabs() if isinstance(subject.__doc__, str) else ""


def _subject(target: Any) -> Any:
    """Return what carries the name and docstring: the class of a callable object, the function of a partial."""
    if hasattr(target, "__name__"):
        return target
    function = function_of(target)
    return type(target) if function.__name__ == "__call__" else function


def _check_methods(name: str, target: type, scope: Scope) -> Binding | None:
    """Raise `TypeError` if a class lacks a method. Return the binding of its record method, if known."""
    if scope == "record":
        if callable(getattr(target, "plan", None)) and callable(getattr(target, "reduce", None)):
            for method in ("plan", "reduce"):
                _check_takes_record(target, method)
            return None
        if not callable(getattr(target, "score", None)):
            hint = ' Write @evaluator(scope="dataset").' if hasattr(target, "observe") else foreign_form(target)
            raise TypeError(f"{name}: a record-scope class needs the method score(self, record).{hint}")
        return method_binding(target, "score")
    if not callable(getattr(target, "observe", None)):
        raise TypeError(f"{name}: a dataset-scope class needs the method observe(self, record).")
    finish = getattr(target, "combine", None) or getattr(target, "aggregate", None)
    if not callable(finish):
        raise TypeError(f"{name}: a dataset-scope class needs aggregate(self, states) or combine(self, totals).")
    if is_async(finish):
        raise TypeError(f"{name}: {finish.__name__}() must not be async. Write it without async.")
    return method_binding(target, "observe")


def _check_takes_record(target: type, method: str) -> None:
    """Raise `TypeError` if the first argument of `plan` or `reduce` is a field instead of the whole record."""
    arguments = [one for one in arguments_of(getattr(target, method)).values() if one.name != "self"]
    if arguments and arguments[0].name in FIELDS_BY_NAME:
        form = "plan(self, record)" if method == "plan" else "reduce(self, record, replies)"
        raise TypeError(f"{target.__qualname__}.{method} takes {arguments[0].name} first. Write {form}.")


def foreign_form(target: Any) -> str:
    """Return what to write instead of another tool's class or object; "" if it is not one."""
    forms = {
        "measure": "measure(test_case) is DeepEval's form. Rename it to score(self, input, output), without test_case;"
        " DeepEval's own metrics are evaluators named deepeval/NAME.",
        "evaluate": "evaluate(ctx) is pydantic-evals' form. Rename it to score(self, output, reference), and read the"
        " arguments instead of ctx.",
        "eval": "eval(output, expected) is autoevals' form. Wrap it in a function: def f(output, expected):"
        " return SCORER(output, expected).score",
    }
    return next((f" {form}" for method, form in forms.items() if callable(getattr(target, method, None))), "")


def _constructor_params(target: type) -> dict[str, Any]:
    constructor: Callable[..., Any] = target.__init__  # type: ignore[misc]
    if constructor is object.__init__:
        return params_schema(lambda: None)
    return params_schema(constructor, (next(iter(arguments_of(constructor))),))


def _words(name: str, what: str, words: Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(words, str):
        raise TypeError(f"{name}: {what} is the text {words!r}. Write a list: {what}=[{words!r}].")
    listed = tuple(words)
    for word in listed:
        # A need may name an entry of a map: usage.latency_ms.
        if (word.split(".")[0] if what == "needs" else word) not in known:
            raise ValueError(f"{name}: {what} has the unknown value {word!r}. Choose from {', '.join(known)}.")
    return listed


def _distinct(name: str, outputs: Iterable[Output]) -> tuple[Output, ...]:
    if isinstance(outputs, Output):
        raise TypeError(f"{name}: outputs is one Output. Write a list: outputs=[Output(…)].")
    listed = tuple(outputs)
    if len({output.name for output in listed}) < len(listed):
        raise ValueError(f"{name}: two outputs have the same name.")
    return listed
