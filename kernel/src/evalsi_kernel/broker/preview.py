"""Count the calls that a dry run would make, and their maximum cost."""

from __future__ import annotations

from typing import Any

from evalsi_kernel.broker.judge_key import JudgeKey


class Preview:
    """Counts questions instead of asking them; equal questions count once, because they would share a call."""

    def __init__(self) -> None:
        self.calls = 0
        self.cached = 0
        self.max_tokens = 0
        self.max_usd: float | None = 0.0
        self._known: set[int] = set()

    def count(self, key: JudgeKey, max_tokens: int, max_usd: float | None) -> None:
        """Count a call with the maximum that it could use; `max_usd` is None where the price is unknown."""
        if self._is_new(key):
            self.calls += 1
            self.max_tokens += max_tokens
            self.max_usd = None if self.max_usd is None or max_usd is None else self.max_usd + max_usd

    def count_cached(self, key: JudgeKey) -> None:
        """Count a question that the cache answers."""
        self.cached += self._is_new(key)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON; `max_usd` is null where a price is unknown."""
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
