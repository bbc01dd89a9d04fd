"""Owns CEL as the kernel's language of conditions: its bounds, the choice of the engine, and errors as sentences.

It must not know how an engine evaluates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.gates.conditions import ConditionError

MAX_SOURCE_BYTES = 4096
_SHOWN = 200
_ENGINES = (("evalsi_cel.native", "cel_expr_python"), ("evalsi_cel.portable", "celpy"))


class BadSource(Exception):
    """What an engine cannot compile; its text is the rest of a sentence, `name` a variable that is not declared."""

    def __init__(self, why: str, name: str | None = None) -> None:
        super().__init__(why)
        self.name = name


class Program(Protocol):
    """A compiled expression of an engine."""

    def value(self, values: Mapping[str, Any]) -> Any:
        """What it is for these values, one for every declared variable; raises `ConditionError`."""
        ...


class Engine(Protocol):
    """What evaluates CEL."""

    def __call__(self, source: str, variables: Sequence[str]) -> Program:
        """Compile; raises `BadSource`."""
        ...


class Cel:
    """The Common Expression Language (cel.dev).

    Args:
        engine: compiles a source; by default that of `cel-expr-python`, or where it is not installed of `cel-python`.
    """

    def __init__(self, engine: Engine | None = None) -> None:
        self._engine = engine

    def compile(self, source: str, variables: Sequence[str]) -> CelCondition:
        """Read a condition once, for many evaluations.

        Args:
            source: CEL, of at most 4,096 bytes.
            variables: the names that it may use, each of which holds a JSON value.

        Raises:
            ConfigError: `config.condition`; it is too long, no CEL, names what is not declared, or has no engine.
        """
        size = len(source.encode("utf-8", "surrogatepass"))
        if size > MAX_SOURCE_BYTES:
            raise _refused(
                f"A condition has {size:,} bytes, and may have {MAX_SOURCE_BYTES:,}.",
                "Compare fewer values, or make an evaluator of it.",
            )
        if self._engine is None:
            self._engine = _installed_engine()
        try:
            if not all(character.isprintable() or character in "\n\r\t" for character in source):
                raise BadSource("holds a character that cannot be printed")
            return CelCondition(source, tuple(variables), self._engine(source, variables))
        except BadSource as bad:
            raise _refused(f"The condition `{_shown(source)}` {bad}.", _hint(source, bad.name, variables)) from bad


class CelCondition:
    """A compiled condition, with no state between evaluations."""

    def __init__(self, source: str, variables: tuple[str, ...], program: Program) -> None:
        self.source = source
        self._variables = variables
        self._program = program

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether it is true of these values, of which those that are missing are null.

        Raises:
            ConditionError: it has no answer, or one that is neither true nor false.
        """
        value = self._program.value({name: _within_64_bits(values.get(name)) for name in self._variables})
        if not isinstance(value, bool):
            raise ConditionError(f"It gives {_kind(value)}, which is neither true nor false.")
        return value


def _within_64_bits(value: Any) -> Any:
    """The value, whole numbers beyond 64 bits as fractions: CEL has none larger, and one must not spoil a record."""
    if isinstance(value, dict):
        return {key: _within_64_bits(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_within_64_bits(item) for item in value]
    if isinstance(value, int) and value.bit_length() > 63:
        return float(value) if value.bit_length() < 1024 else math.copysign(math.inf, value)
    return value


def _installed_engine() -> Engine:
    for module, library in _ENGINES:
        try:
            import_module(library)
        except ImportError:
            continue
        engine: Engine = import_module(module).compile_source
        return engine
    raise _refused("No library that reads CEL is installed.", "Install one: pip install 'evalsi-cel[portable]'")


def _hint(source: str, unknown: str | None, variables: Sequence[str]) -> str:
    if unknown is None:
        return "See https://cel.dev for how it is written."
    if re.search(rf"\b{re.escape(unknown)}\s*\(", source):
        return "CEL has size, matches, startsWith, endsWith, contains, has, exists, all, filter, map and conversions."
    return choose(unknown, variables)


def _shown(source: str) -> str:
    text = "".join(character if character.isprintable() else "?" for character in source)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _refused(message: str, hint: str) -> ConfigError:
    return ConfigError(message, hint, code="config.condition")


def _kind(value: Any) -> str:
    kinds = {str: "text", int: "a number", float: "a number", list: "a list", dict: "an object", type(None): "null"}
    return next((words for kind, words in kinds.items() if isinstance(value, kind)), "something else")
