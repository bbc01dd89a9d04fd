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
# The share of calls that may be refused without a fall, where no refusal holds the others up.
TOLERATED = 0.02
# So many times the share that is refused whatever we do is tolerated besides, as it is known roughly.
MARGIN = 1.3
# What is tolerated of so many round trips may come all at once; a window counts as so many calls at least.
TRIPS, FEWEST = 10, 4
# To what the window falls: the latter where more than MOST_STRAY are refused or a refusal holds all up.
LOW, HALF = 0.7, 0.5
# It then stays low for so many round trips, and calls at least, to see whether fewer are refused.
LOW_TRIPS, LOW_CALLS = 2, 8
# Where a larger share is refused, there are too many calls for sure.
MOST_STRAY = 1 / 8
# What was known of the share that is refused whatever we do weighs as much as so many calls.
LEARNT_CALLS = 20
# The least that the provider is then taken to take less, where a refusal holds all up.
HELD = 0.03


class Window:
    """A window on calls that falls when a provider throttles and rises when it does not.

    Some refusals have nothing to do with it, as where others use the same key. So it stays low for a while after each
    fall: calls that are refused then as well are refused whatever we do, and such a share is tolerated from then on.

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
        self._stray = 0.0  # The share of calls that is refused whatever we do.
        self._holds = False  # Whether a refusal holds all up.
        self._credit = 0.0  # So many refusals are tolerated now.
        self._calls = self._refusals = 0  # Since the last fall.
        # Of the last fall:
        self._last_of_burst = -most  # Calls up to this number were sent before it, and there was none yet.
        self._fell_from = self._base = size  # And what the provider seemed to take.
        self._was_full = False  # As many calls were in flight as might be: it may be their number that was too much.
        self._tried = self._refused = 0  # Calls in flight then, or those started since the first that was refused.
        self._calls_before = self._refusals_before = 0  # Between the fall before and this one.
        self._is_barren = False  # No call that was sent after it came through.
        self._was_barren = False  # The same of the fall before.
        self._known_before = self._ceiling, self._creep_s
        self._low_calls = self._low_refusals = 0  # The calls that the window stays low for, and those of them refused.

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
        self._credit = min(self._credit + self._tolerated, self._tolerated * TRIPS * max(self.size, FEWEST))
        self._calls += 1
        if number > self._last_of_burst:
            self._is_barren = False
            self._learn(number)
            # A window that is not used says nothing of what the provider takes.
            if not self._low_calls and in_flight * 2 >= self.size:
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
            Whether the window falls anew: what was sent before a fall, or is among the first after it, is part of that
            one, and what is refused seldom enough is tolerated.
        """
        if number <= self._last_of_burst:
            self._refused += 1
            self._fall(hold_s)
            return False
        self._learn(number)
        self._holds = hold_s > 0
        self._low_refusals += 1
        # Some of the first are refused before any can come through.
        is_part = number < self._last_of_burst + self.size and self._low_refusals <= 2 + self.size * MOST_STRAY
        if is_part or (not self._is_barren and self._is_tolerable()):
            self._calls += 1
            self._refusals += 1
            return False
        self._is_known = True
        self._fell_from, self._was_full = self.size, in_flight >= self.limit > 1
        self._known_before = self._ceiling, self._creep_s
        self._base, known = self.size, self._ceiling
        if self.size < known < math.inf:
            # Where it was not reached again, the provider may take less by now.
            is_up = self._low_calls or (not hold_s and self.size >= WARY * known)
            self._base = known if is_up else (self.size + known) / 2
        self._was_barren, self._is_barren = self._is_barren, True
        self._tried, self._refused = in_flight if self._was_full else last_number - number + 1, 1
        self._calls_before, self._refusals_before = self._calls, self._refusals
        self._calls = self._refusals = self._low_refusals = 0
        self._last_of_burst, self._credit = last_number, 0.0
        self._fall(hold_s)
        self._creep = None
        return True

    @property
    def _tolerated(self) -> float:
        return (0.0 if self._holds else TOLERATED) + MARGIN * self._stray

    def _is_tolerable(self) -> bool:
        if self._low_calls:
            return self._low_refusals <= 1 + self._low_calls * MOST_STRAY
        self._credit -= 1
        return self._credit >= 0

    def _learn(self, number: int) -> None:
        """Learn from the calls while the window was low, once the first one after them has ended."""
        if self._low_calls and number > self._last_of_burst + self._low_calls:
            self._stray += (self._low_refusals - self._low_calls * self._stray) / (self._low_calls + LEARNT_CALLS)
            self._low_calls = 0

    def _fall(self, hold_s: float) -> None:
        let_through = max(0, self._tried - self._refused)
        went_well = let_through if self._was_full else let_through + self._calls_before - self._refusals_before
        if self._was_barren or not went_well:
            # Nothing comes through at all, which says nothing of how much would at another time.
            self._ceiling, self._creep_s = self._known_before
            self.size, self._low_calls = min(1.0, self._fell_from), 0
            return
        calls = self._calls_before + self._tried
        loss = max(0.0, (self._refusals_before + self._refused) / calls - MARGIN * self._stray)
        loss = max(loss, HELD if hold_s and loss else 0.0)
        low = self._fell_from * (HALF if hold_s or loss > MOST_STRAY else LOW)
        self._ceiling = max(low, self._base * (1 - loss))
        self.size = max(1.0, min(low, let_through)) if self._was_full else low
        self._low_calls = max(LOW_CALLS, math.ceil(LOW_TRIPS * self.size)) if loss <= MOST_STRAY else 0
        self._creep_s = min(MAX_CREEP_S, CREEP * (hold_s + 3 * max(self.gap_s, self._round_trip_s or FIRST_GUESS_S)))

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
