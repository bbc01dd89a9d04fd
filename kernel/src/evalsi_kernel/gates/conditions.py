"""Conditions in CEL (`when`): which names one may use, and the seam to the extension that reads and evaluates them.

It must not know CEL: the engines are in an extension (`evalsi-cel`), loaded when the first condition is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

GATE_VARIABLES: Final = ("name", "project", "labels", "trials", "target", "dataset", "source")
"""What `when` of a gate may name: keys of a run's manifest."""
SOURCE_KEYS: Final = ("ci", "commit", "branch", "pull_request", "url")
"""What `source` always has, null where nobody knows it: a condition on a branch can be told outside of CI too."""
EVALUATOR_VARIABLES: Final = ("record", "scores")
"""What `when` of an evaluator may name: the record, and metric → value of the evaluators before it."""


class ConditionError(Exception):
    """A condition has no answer for these values; its text is a sentence that says why."""


class Condition(Protocol):
    """A compiled condition; several threads may use one."""

    @property
    def source(self) -> str:
        """The condition as it was written."""

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether it is true of these values.

        Args:
            values: JSON values by variable; a declared variable that is missing is null.

        Raises:
            ConditionError: it gives no truth value: a key is missing, types do not fit, or it takes too long.
        """


class ConditionLanguage(Protocol):
    """What reads conditions; an extension provides it."""

    def compile(self, source: str, variables: Sequence[str]) -> Condition:
        """Read a condition once, for many evaluations.

        Args:
            source: as a person wrote it, of at most 4,096 bytes.
            variables: the names that it may use, `GATE_VARIABLES` or `EVALUATOR_VARIABLES`; each holds a JSON value.

        Raises:
            ConfigError: `config.condition`; it is too long, cannot be read, or names what is not declared.
        """
