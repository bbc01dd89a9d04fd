"""Owns why there is no score: errors and skips grouped by what they say, with counts and a few records to look at.

It must not know scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from .shown_text import one_line, without_numbers

# Groups beyond these are counted together; a message that differs each time must not fill memory or page.
MAX_GROUPS = 200
MAX_EXAMPLES = 5
_LONGEST_MESSAGE = 600


class Reason:
    """One group.

    Attributes:
        code: of an error; "" for a skip.
        message, hint, source: of the group's first.
        count: results of the group.
        records: rows of the group; a row on which three evaluators failed alike is one.
        evaluators: how often each evaluator gave it.
        examples: ids of the first few records.
    """

    def __init__(self, code: str, message: str, hint: str = "", source: str = "") -> None:
        self.code = code
        self.message = message
        self.hint = hint
        self.source = source
        self.count = 0
        self.records = 0
        self.evaluators: Counter[str] = Counter()
        self.examples: list[str] = []
        self._last_row = -1

    def add(self, row: int, record_id: str, evaluator: str) -> None:
        """Count one more."""
        self.count += 1
        self.evaluators[evaluator] += 1
        if row != self._last_row:
            self._last_row = row
            self.records += 1
            if record_id and len(self.examples) < MAX_EXAMPLES and record_id not in self.examples:
                self.examples.append(record_id)


class Reasons:
    """All groups of one kind, the most frequent first."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], Reason] = {}

    def add(self, row: int, result: Mapping[str, Any]) -> None:
        """Take in a result without a score."""
        told = result.get("error")
        error: Mapping[str, Any] = told if isinstance(told, dict) else {}
        code = str(error.get("code") or "")
        message = one_line(str(error.get("message") or result.get("reason") or "no reason given"), _LONGEST_MESSAGE)
        evaluator = str(result.get("evaluator"))
        key = (code, without_numbers(message.replace(evaluator, "·")))
        group = self._groups.get(key)
        if group is None and len(self._groups) >= MAX_GROUPS:
            key = ("", "other reasons")
            message, error = "other reasons", {}
            group = self._groups.get(key)
        if group is None:
            hint, source = one_line(str(error.get("hint") or ""), _LONGEST_MESSAGE), str(error.get("source") or "")
            group = self._groups[key] = Reason(code if error else "", message, hint, source)
        group.add(row, str(result.get("record_id") or ""), evaluator)

    @property
    def groups(self) -> list[Reason]:
        """The groups."""
        return sorted(self._groups.values(), key=lambda one: -one.count)
