"""A dry run: which calls would be made, and what they could cost at most.

It must not know how a call is made.
"""

from __future__ import annotations

from typing import Any

from evalsi_kernel.broker.judge_key import JudgeKey


class Preview:
    """Counts questions instead of asking them; equal ones count once, as they would be asked once."""

    def __init__(self) -> None:
        self.calls = 0
        self.cached = 0
        self.max_tokens = 0
        self.max_usd: float | None = 0.0
        self._known: set[int] = set()

    def count(self, key: JudgeKey, max_tokens: int, max_usd: float | None) -> None:
        """Count a call that would be made, and the most that it could take; None is an unknown price."""
        if self._is_new(key):
            self.calls += 1
            self.max_tokens += max_tokens
            self.max_usd = None if self.max_usd is None or max_usd is None else self.max_usd + max_usd

    def count_cached(self, key: JudgeKey) -> None:
        """Count a question that the cache answers."""
        self.cached += self._is_new(key)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `max_usd` is null where a price is unknown."""
        return {
            "calls": self.calls,
            "cached": self.cached,
            "max_tokens": self.max_tokens,
            "max_usd": self.max_usd,
        }

    def _is_new(self, key: JudgeKey) -> bool:
        number = int(key.digest[:16], 16)
        is_new = number not in self._known
        self._known.add(number)
        return is_new
