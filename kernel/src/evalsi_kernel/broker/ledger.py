"""Record the usage of a run's model calls (tokens and USD) by evaluator session and record."""

from __future__ import annotations

from typing import NamedTuple

from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Tokens
from evalsi_kernel.broker.prices import miscount
from evalsi_kernel.broker.usd import PICO, picodollars, shown_usd

_COUNTS = ("input", "output", "cache_read", "reasoning")


class Entry(NamedTuple):
    """One request to a model, answered or not.

    Args:
        ref: reference of its raw reply; "" where there is none.
        tokens: tokens of all its calls.
        cost_usd: cost of all its calls; None means unknown.
        calls: number of calls made. A request without one counts as free, whatever the other values say.
        cached: whether the reply came from the cache or from a shared call, so that it needed no call of its own.
        failed: whether it ended in an error.
    """

    ref: str
    tokens: Tokens = UNKNOWN_TOKENS
    cost_usd: float | None = None
    calls: int = 1
    cached: bool = False
    failed: bool = False


class Bill(NamedTuple):
    """A sum of entries. Token counts and cost cover the known part, and are None where nothing is known.

    Args:
        asks: requests, including cached and failed ones.
        calls: calls made.
        cached: requests that needed no call.
        failed: requests that ended in an error.
        input_tokens: tokens of whole prompts.
        output_tokens: tokens of whole replies, including reasoning.
        cached_tokens: the part of `input_tokens` that was read from the provider's cache.
        reasoning_tokens: the part of `output_tokens` that is hidden reasoning.
        unknown_tokens: requests whose prompt or reply tokens are unknown.
        miscounted: requests with contradictory counts, such as more cached tokens than the prompt has.
        cost_usd: cost of the requests whose cost is known.
        unknown: requests whose cost is unknown.
    """

    asks: int = 0
    calls: int = 0
    cached: int = 0
    failed: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cached_tokens: int | None = 0
    reasoning_tokens: int | None = 0
    unknown_tokens: int = 0
    miscounted: int = 0
    cost_usd: float | None = 0.0
    unknown: int = 0

    @property
    def shown_cost(self) -> str:
        """The cost for display: "$0.12", "≥ $0.12" where a part is unknown, "unknown" where all of it is."""
        if self.cost_usd is None:
            return "unknown"
        return shown_usd(self.cost_usd, at_least=self.unknown > 0)


class _Sum:
    """Mutable running total behind a `Bill`."""

    def __init__(self) -> None:
        self.asks = self.made = self.calls = self.cached = self.failed = 0
        self.unknown_tokens = self.miscounted = self.unknown = self.pico_usd = 0
        self.counts = dict.fromkeys(_COUNTS, 0)
        self.known = dict.fromkeys(_COUNTS, 0)

    def add(self, entry: Entry) -> None:
        self.asks += 1
        self.failed += entry.failed
        self.cached += entry.cached
        if entry.cached or not entry.calls:
            return
        self.made += 1
        self.calls += entry.calls
        tokens = entry.tokens
        for name in _COUNTS:
            count = getattr(tokens, name)
            if count is not None:
                self.counts[name] += count
                self.known[name] += 1
        self.unknown_tokens += tokens.input is None or tokens.output is None
        self.miscounted += miscount(tokens) is not None
        if entry.cost_usd is None:
            self.unknown += 1
        else:
            self.pico_usd += picodollars(entry.cost_usd)

    def bill(self) -> Bill:
        asked = self.asks, self.calls, self.cached, self.failed
        took = self._known("input"), self._known("output"), self._known("cache_read"), self._known("reasoning")
        cost_usd = None if self.made and self.unknown == self.made else self.pico_usd / PICO
        return Bill(*asked, *took, self.unknown_tokens, self.miscounted, cost_usd, self.unknown)

    def _known(self, name: str) -> int | None:
        return self.counts[name] if self.known[name] or not self.made else None


class Ledger:
    """The usage of one run. Totals are kept; the entries of a record are kept until `take` removes them."""

    def __init__(self) -> None:
        self._sessions: dict[int, _Sum] = {}
        self._whole = _Sum()
        self._entries: dict[tuple[int, str], list[Entry]] = {}

    def book(self, session: int, record_id: str, entry: Entry) -> None:
        """Add a request of an evaluator session about a record."""
        of_session = self._sessions.get(session)
        if of_session is None:
            of_session = self._sessions[session] = _Sum()
        of_session.add(entry)
        self._whole.add(entry)
        self._entries.setdefault((session, record_id), []).append(entry)

    @property
    def sessions(self) -> list[int]:
        """The sessions that made requests."""
        return list(self._sessions)

    def bill(self, session: int) -> Bill:
        """Return the usage of a session so far; zero for an unknown session."""
        of_session = self._sessions.get(session)
        return of_session.bill() if of_session is not None else Bill()

    def whole(self) -> Bill:
        """Return the usage of the run so far."""
        return self._whole.bill()

    def take(self, session: int, record_id: str) -> list[Entry]:
        """Remove and return the entries of a record, in booking order; they stay in the totals."""
        return self._entries.pop((session, record_id), [])

    def left(self) -> dict[int, list[Entry]]:
        """Return the entries with calls that `take` never removed, by session: those of interrupted records."""
        left: dict[int, list[Entry]] = {}
        for (session, _), entries in self._entries.items():
            if made := [entry for entry in entries if entry.calls and not entry.cached]:
                left.setdefault(session, []).extend(made)
        return left
