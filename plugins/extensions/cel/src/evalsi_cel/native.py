"""Owns the engine on `cel-expr-python`, the CEL project's own: it checks types as it compiles, and bounds itself.

It must not know what a condition is for. Its bounds: nesting of 32, and 10,000 rounds of all loops of one evaluation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cel_expr_python import cel

from evalsi_kernel.gates.conditions import ConditionError

from .language import BadSource

# "INVALID_ARGUMENT: ERROR: <input>:1:5: Syntax error: …", and lines that draw the place, which we do not show.
_PLACED = re.compile(r"<input>:(\d+):(\d+): ([^\n]+)")
# What the parser would have taken is a long list, and there is one container.
_NOISE = re.compile(r" \(in container '.*?'\)| expecting \{.*")
_STATUS = re.compile(r"^[A-Z_]+: ")
_UNDECLARED = re.compile(r"undeclared reference to '([^']+)'")


def compile_source(source: str, variables: Sequence[str]) -> NativeProgram:
    """Compile a source in which each variable holds a value of any type; raises `BadSource`."""
    environment = cel.NewEnv(variables=dict.fromkeys(variables, cel.Type.DYN))
    try:
        return NativeProgram(environment.compile(source))
    except (RuntimeError, ValueError, TypeError) as error:
        raise _bad_source(str(error), variables) from error


class NativeProgram:
    """A compiled expression; threads may share it."""

    def __init__(self, expression: Any) -> None:
        self._expression = expression

    def value(self, values: Mapping[str, Any]) -> Any:
        """What it is for these values; raises `ConditionError`."""
        try:
            found = self._expression.eval(data=values)
            plain = found.plain_value()
        except (RuntimeError, ValueError, TypeError, OverflowError) as error:
            raise ConditionError(_sentence(str(error))) from error
        if found.type() == cel.Type.ERROR:
            raise ConditionError(_sentence(str(plain)))
        return plain


def _bad_source(text: str, variables: Sequence[str]) -> BadSource:
    placed = _PLACED.search(text)
    if placed is None:
        return BadSource(f"cannot be read: {_STATUS.sub('', text.splitlines()[0] if text else 'no reason given')}")
    why = _NOISE.sub("", placed[3]).rstrip(". ")
    unknown = _UNDECLARED.match(why)
    name = unknown[1] if unknown and unknown[1] not in variables else None
    return BadSource(f"cannot be read at line {placed[1]}, column {placed[2]}: {why}", name)


def _sentence(text: str) -> str:
    first = _STATUS.sub("", text.splitlines()[0] if text else "") or "no reason given"
    return f"{first[:1].upper()}{first[1:]}".removesuffix(" [INTERNAL]").rstrip(". ") + "."
