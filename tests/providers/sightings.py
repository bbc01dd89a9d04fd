"""What the server saw: requests, counts, the most calls in flight. Any thread may read it; only the server writes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.providers.requests import Request


class Sightings:
    """The record of what came and what was answered."""

    def __init__(self, *, keep: bool) -> None:
        self._keep = keep
        self._changed = threading.Condition()
        self.requests: list[Request] = []
        self.rows: list[Request] = []
        self.batch_requests = 0
        self._answered = 0
        self.calls = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.abandoned = 0
        self.statuses: Counter[int] = Counter()
        self.failures: list[Exception] = []

    def came(self, request: Request) -> None:
        """A request was read."""
        if self._keep:
            self.requests.append(request)

    def row_came(self, request: Request) -> None:
        """A row of a batch was read."""
        with self._changed:
            if self._keep:
                self.rows.append(request)
            self._changed.notify_all()

    def batch_request_came(self) -> int:
        """A request for files or batches came; returns its number."""
        with self._changed:
            self.batch_requests += 1
            self._changed.notify_all()
        return self.batch_requests

    def request_id(self) -> str:
        """A name for the next answer."""
        self._answered += 1
        return f"req_{self._answered}"

    def called(self) -> int:
        """A call of a model came; returns its number."""
        with self._changed:
            self.calls += 1
            self._changed.notify_all()
        return self.calls

    def began(self) -> None:
        """A call is being answered."""
        with self._changed:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            self._changed.notify_all()

    def ended(self, *, abandoned: bool) -> None:
        """A call is answered no longer; abandoned where the client left, or the server stopped, before it was."""
        with self._changed:
            self.in_flight -= 1
            self.abandoned += abandoned
            self._changed.notify_all()

    def wait(self, reached: Callable[[Sightings], bool], timeout_s: float) -> None:
        """Block until the record is as asked; AssertionError after the timeout."""
        with self._changed:
            if not self._changed.wait_for(lambda: reached(self), timeout_s):
                raise AssertionError(f"not seen within {timeout_s} s; so far {self.counts()}")

    def counts(self) -> dict[str, Any]:
        """The counts as JSON."""
        return {
            "calls": self.calls,
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
            "abandoned": self.abandoned,
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
        }
