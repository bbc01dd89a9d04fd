"""Conditions in CEL (`when`): which names one may use, and the seam to the extension that reads and evaluates them.

It must not know CEL: the engines are in an extension (`evalsi-cel`), loaded when the first condition is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from evalsi_kernel.extensions import Extensions

MAX_SOURCE_BYTES: Final = 4096
GATE_VARIABLES: Final = ("name", "project", "labels", "trials", "target", "dataset", "source")
"""What `when` of a gate may name: the keys of a run's manifest."""
EVALUATOR_VARIABLES: Final = ("record", "scores")
"""What `when` of an evaluator may name: the record, and metric → value of the evaluators before it."""


class ConditionError(Exception):
    """A condition has no answer for these values; its text is a sentence that says why."""


class Condition(Protocol):
    """A compiled condition; many threads may use one."""

    source: str

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether it is true of these values.

        Args:
            values: JSON values by variable; a declared variable that is missing is null.

        Raises:
            ConditionError: it gives no truth value: a key is missing, types do not fit, it takes too long.
        """
        ...


def compile_condition(source: str, variables: tuple[str, ...], extensions: Extensions) -> Condition:
    """Read a condition once, for many evaluations.

    Args:
        source: CEL of at most 4,096 bytes.
        variables: the names that it may use, `GATE_VARIABLES` or `EVALUATOR_VARIABLES`.
        extensions: where the engine comes from.

    Raises:
        ConfigError: `config.condition`, it is too long, no CEL, or names what is not declared; `config.no_extension`,
            nothing that reads CEL is installed.
    """
    raise NotImplementedError
