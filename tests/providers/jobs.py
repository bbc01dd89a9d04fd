"""A batch as it goes on: rows, polls, a cancelling, an end. Whose form it is told in stands in a file for each API."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from tests.providers.batching import Batching, shuffled
from tests.providers.exchange import Conduct, consider, objection, speak
from tests.providers.faults import Cut, Delay, Page, Status
from tests.providers.forms import Form
from tests.providers.requests import Request

Told = dict[str, Any] | bytes | Status | None
"""What the API of batches says: JSON, a file, an error; None where it serves nothing."""
How = Literal["succeeded", "errored", "expired", "canceled"]


class RowEnd(NamedTuple):
    """What became of a row."""

    custom_id: str
    how: How
    body: dict[str, Any]
    """The reply of one that succeeded; else nothing."""
    failed: Status | None = None


class Job:
    """A batch that takes as many polls as its conduct says; it does part of its work between two of them."""

    def __init__(self, name: str, ends: Sequence[RowEnd], batching: Batching) -> None:
        self.name = name
        self.created_s = time.time()
        self.total = len(ends)
        self.canceling = False
        self._ends = list(ends)
        self._batching = batching
        self._polls = 0
        self._done_when_canceled: int | None = None

    @property
    def done(self) -> int:
        """How many rows have been worked on."""
        if self._done_when_canceled is not None:
            return self._done_when_canceled
        return min(self.total, self.total * self._polls // (self._batching.polls + 1))

    @property
    def ended(self) -> bool:
        """Whether nothing more will change."""
        return not self.canceling and (self._done_when_canceled is not None or self._polls > self._batching.polls)

    @property
    def canceled(self) -> bool:
        """Whether it was canceled before it had ended."""
        return self._done_when_canceled is not None

    @property
    def last_poll(self) -> bool:
        """Whether the next poll finds it ended."""
        return self._polls == self._batching.polls > 1

    def poll(self) -> None:
        """Somebody asked how it goes."""
        self._polls += 1
        self.canceling = False

    def cancel(self) -> None:
        """Work on no further row; without effect once it has ended."""
        if not self.ended and self._done_when_canceled is None:
            self._done_when_canceled = self.done
            self.canceling = True

    def results(self) -> list[RowEnd]:
        """What became of the rows, in another order, with the faults of the conduct."""
        ends = [
            end if place < self.done else RowEnd(end.custom_id, "canceled", {}) for place, end in enumerate(self._ends)
        ]
        heard = [end for end in ends if end.custom_id not in self._batching.lost]
        twice = [end for end in heard if end.custom_id in self._batching.doubled]
        return shuffled([*heard, *twice], self._batching.seed)

    def counts(self) -> Counter[str]:
        """How many rows ended in which way, the lost ones too."""
        return Counter(end.how if place < self.done else "canceled" for place, end in enumerate(self._ends))


def page(names: Sequence[str], request: Request, after: str) -> tuple[list[str], bool]:
    """The part of a list, the newest first, that is asked for, and whether more follows.

    Args:
        names: of what is listed, the oldest first.
        request: that asks, for `limit` of them (20).
        after: the parameter that names the one before the part.
    """
    newest_first = list(reversed(names))
    start = newest_first.index(request.query[after]) + 1 if after in request.query else 0
    end = start + int(request.query.get("limit", 20))
    return newest_first[start:end], end < len(newest_first)


def settle(form: Form, request: Request, conduct: Conduct) -> RowEnd:
    """What becomes of a row that is worked on."""
    assert request.custom_id is not None
    wrong = objection(form, request, conduct.rules)
    if wrong:
        return RowEnd(request.custom_id, "errored", {}, wrong)
    if request.custom_id in conduct.batching.expired:
        return RowEnd(request.custom_id, "expired", {})
    answer, fault = consider(request, conduct)
    while isinstance(fault, Delay):
        fault = fault.then
    if isinstance(fault, Page | Cut):
        fault = Status(500, "The server failed while it worked on this row.")
    spoken = speak(form, request, answer, fault)
    if spoken.failed:
        return RowEnd(request.custom_id, "errored", {}, spoken.failed)
    assert isinstance(spoken.body, dict)
    return RowEnd(request.custom_id, "succeeded", spoken.body)
