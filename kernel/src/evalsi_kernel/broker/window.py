"""How many calls a provider takes at once, learnt from what it does and what it refuses: arithmetic without a clock.

It must not know how calls wait; times come in as arguments, in seconds of any one clock.
"""

from __future__ import annotations

import math

WARY = 0.9
"""The share of what was let through that is taken again quickly; the rest is approached slowly."""
CREEP = 20
"""The approach takes so many times as long as a refusal holds up, so that refusals cost a twentieth."""
MAX_CREEP_S = 600.0
LEAD = 1.1
"""Starts come so much closer than evenly over a round trip, lest the window is never filled."""
MAX_GAP_S = 60.0
FIRST_GUESS_S = 1.0
"""The round trip, until one was seen."""
SMOOTHING = 0.1
"""The weight of the newest round trip in the usual one."""
ENOUGH = 20
"""So many calls that came through say as much of a rate as any more."""
STRAY_AFTER = 10
"""A single refusal after so many calls that came through is another user's of the same key, or a last one."""
STRAY_CREEP = 16
"""What it took away comes back within so many round trips."""

OUTAGE = 3
"""After so many barren falls in a row it is no limit that refuses: the window then comes back to where it was."""


class Window:
    """A window on calls that falls when a provider throttles and rises when it does not.

    Args:
        most: calls at once, at most.
        size: calls at once to begin with.

    Attributes:
        size: calls at once; a fraction means that there may not even be one all the time.
    """

    def __init__(self, most: int, size: float) -> None:
        self.most = most
        self.size = size
        self._round_trip_s: float | None = None
        self._is_known = False  # Whether the provider ever throttled.
        self._ceiling = math.inf  # What it was seen to take.
        self._creep: tuple[float, float] | None = None  # When it began, and the size then.
        self._creep_s = CREEP * FIRST_GUESS_S
        self._successes = 0  # Since the last fall.
        # Of the last fall:
        self._last_of_burst = 0  # Calls up to this number were sent before it.
        self._fell_at = -math.inf
        self._fell_from = size
        self._was_full = False  # As many calls were in flight as might be: it may be their number that was too much.
        self._tried = self._refused = 0  # Calls in flight then, or those started since the first that was refused.
        self._went_well = 0  # Successes between the fall before and this one.
        self._is_barren = False  # No call that was sent after it came through.
        self._barren = 0  # Falls in a row that were so.
        self._known_before = self._ceiling, self._creep_s
        self._in_peace = size, self._creep_s  # Before the first of the barren ones.

    @property
    def limit(self) -> int:
        """How many calls may be in flight."""
        return min(self.most, math.ceil(self.size))

    @property
    def gap_s(self) -> float:
        """How long after a start the next one may follow; 0.0 as long as the provider never throttled."""
        if not self._is_known:
            return 0.0
        return min(MAX_GAP_S, (self._round_trip_s or FIRST_GUESS_S) / (self.size * LEAD))

    def succeeded(self, number: int, in_flight: int, took_s: float, now: float) -> None:
        """Take in that a call came through.

        Args:
            number: of the call, in the order of starts.
            in_flight: calls, with this one.
            took_s: from its start to its end.
            now: the time.
        """
        known_s = self._round_trip_s
        self._round_trip_s = took_s if known_s is None else known_s + SMOOTHING * (took_s - known_s)
        self._successes += 1
        if number > self._last_of_burst:
            self._is_barren = False
            if in_flight * 2 >= self.size:  # A window that is not used says nothing of what the provider takes.
                self._rise(now)

    def throttled(self, number: int, last_number: int, in_flight: int, hold_s: float, now: float) -> bool:
        """Take in that a call was refused since there were too many.

        Args:
            number: of the call, in the order of starts.
            last_number: of the call that was started last.
            in_flight: calls, with this one.
            hold_s: for how long no call will be made now.
            now: the time.

        Returns:
            Whether the window falls anew: what is refused within a round trip after a fall, or was sent before, is part
            of that one.
        """
        was_sent_before = number <= self._last_of_burst
        is_new = not was_sent_before and now - self._fell_at >= (self._round_trip_s or 0.0)
        if is_new:
            self._is_known = True
            self._fell_at = now
            self._fell_from, self._was_full = self.size, in_flight >= self.limit > 1
            self._known_before = self._ceiling, self._creep_s
            self._barren = self._barren + 1 if self._is_barren else 0
            if not self._is_barren:
                self._in_peace = self.size, self._creep_s
            elif self._barren >= OUTAGE:
                self._known_before = self._in_peace
            self._is_barren = True
            self._tried, self._refused = in_flight if self._was_full else last_number - number + 1, 0
            self._went_well, self._successes = min(self._successes, ENOUGH), 0
            self._last_of_burst = last_number
        elif not was_sent_before:
            self._tried += 1
        self._refused += 1
        self._fall(hold_s)
        self._creep = None
        return is_new

    def _fall(self, hold_s: float) -> None:
        let_through = max(0, self._tried - self._refused)
        if not self._went_well + let_through:
            # Nothing comes through at all, which says nothing of how much would at another time.
            self._ceiling, self._creep_s = self._known_before
            self.size = min(1.0, self._fell_from)
            return
        before, half = self._fell_from, self._fell_from / 2
        if self._refused == 1 and self._went_well >= STRAY_AFTER and not hold_s:
            # To ask once more costs less than to do without half of the calls.
            self._ceiling = before if math.isinf(self._ceiling) else max(before, self._ceiling)
            self.size = max(1.0, math.ceil(before) - 1 if self._was_full else before * (1 - 1 / CREEP))
            self._creep_s = STRAY_CREEP * (self._round_trip_s or FIRST_GUESS_S)
            return
        if self._was_full:
            self._ceiling = max(half, let_through)
            self.size = max(1.0, min(half, let_through))
        else:
            # They came too fast: the share that came through tells by how much.
            share = (self._went_well + let_through) / (self._went_well + self._tried)
            self._ceiling = max(half, before * share)
            self.size = half
        refusal_s = hold_s + 2 * max(self.gap_s, self._round_trip_s or FIRST_GUESS_S)
        self._creep_s = min(MAX_CREEP_S, CREEP * refusal_s)

    def _rise(self, now: float) -> None:
        step = min(1.0, self.size)  # One for each success: a window of them doubles it.
        quick = WARY * self._ceiling
        if self.size < quick:
            self.size = min(self.size + step, quick)
        else:
            began, size = self._creep = self._creep or (now, self.size)
            share = (now - began) / self._creep_s
            if share < 1:
                aim = self._ceiling - (self._ceiling - size) * (1 - share) ** 3
            else:
                aim = self._ceiling * (1 + (share - 1) ** 3)
            self.size = max(self.size, min(aim, self.size + step))
        self.size = min(self.size, float(self.most))
