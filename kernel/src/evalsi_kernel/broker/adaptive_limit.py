"""Compute the concurrency of calls to a provider from their successes and rejections, without a clock of its own."""

from __future__ import annotations

import math

QUICK_SHARE = 0.9
"""Share of the accepted calls up to which the concurrency grows quickly; it approaches the rest slowly."""
CREEP = 20
"""Duration of the slow approach as a multiple of a rejection's pause, so that pauses cost a twentieth of the time."""
MAX_CREEP_S = 600.0
LEAD = 1.1
"""Starts are closer by this factor than evenly over a round trip, or the limit would never be reached."""
MAX_GAP_S = 60.0
FIRST_GUESS_S = 1.0
"""Assumed round trip until one was measured."""
SMOOTHING = 0.1
"""Weight of the newest round trip in the moving average."""
# Share of calls that may be rejected without a reduction, where a rejection does not pause all calls.
TOLERATED = 0.02
# Safety factor applied to the baseline rejection rate, which is only an estimate.
MARGIN = 1.3
# Rejections tolerated over this many round trips may come at once; the limit counts as at least this many calls.
TRIPS, FEWEST = 10, 4
# Factors of a reduction: HALF where more than MAX_BASELINE of the calls are rejected or a rejection pauses all calls.
LOW, HALF = 0.7, 0.5
# After a reduction the limit stays low for this many round trips and calls, to see whether rejections decrease.
LOW_TRIPS, LOW_CALLS = 2, 8
# A larger share of rejections certainly means too many calls.
MAX_BASELINE = 1 / 8
# Weight of the previous estimate of the baseline rejection rate, in calls.
BASELINE_WEIGHT = 20
# Assumed minimum share of rejections, where a rejection pauses all calls.
MIN_LOSS = 0.03


class AdaptiveLimit:
    """A limit on concurrent calls that falls when a provider rejects calls and rises when it does not.

    Some rejections have other causes, such as other users of the same key. The limit therefore stays low for a while
    after each reduction: the share of calls rejected even then is the baseline rejection rate, and is tolerated from
    then on. Times are in seconds of any one clock.

    Args:
        most: maximum of concurrent calls.
        size: initial number of concurrent calls.

    Attributes:
        size: current number of concurrent calls; below 1, a call is not always allowed.
    """

    def __init__(self, most: int, size: float) -> None:
        self.most = most
        self.size = size
        self._round_trip_s: float | None = None
        self._is_known = False  # Whether the provider ever rejected a call.
        self._ceiling = math.inf  # What it seems to accept.
        self._creep: tuple[float, float] | None = None  # Time and size at the start of slow growth.
        self._creep_s = CREEP * FIRST_GUESS_S
        self._baseline = 0.0  # Baseline rejection rate.
        self._pauses_all = False  # Whether a rejection pauses all calls.
        self._credit = 0.0  # Rejections that are tolerated now.
        self._calls = self._rejections = 0  # Since the last reduction.
        # Of the last reduction:
        self._last_of_burst = -most  # Calls up to this number started before it; initially none.
        self._fell_from = self._base = size  # And what the provider seemed to accept.
        self._was_full = False  # Whether the limit was reached, so that it may be too high.
        self._tried = self._rejected = 0  # Calls in progress, or started since the first rejection.
        self._calls_before = self._rejections_before = 0  # Between the previous reduction and this one.
        self._none_succeeded = False  # No call started after it has succeeded.
        self._none_succeeded_before = False  # The same for the previous reduction.
        self._known_before = self._ceiling, self._creep_s
        self._low_calls = self._low_rejections = 0  # Calls the limit stays low for, and the rejected ones of them.

    @property
    def limit(self) -> int:
        """How many calls may be in progress."""
        return min(self.most, math.ceil(self.size))

    @property
    def gap_s(self) -> float:
        """Minimum time between two starts in seconds; 0.0 as long as the provider never rejected a call."""
        if not self._is_known:
            return 0.0
        return min(MAX_GAP_S, (self._round_trip_s or FIRST_GUESS_S) / (self.size * LEAD))

    def succeeded(self, number: int, in_flight: int, took_s: float, now: float) -> None:
        """Record a successful call.

        Args:
            number: sequence number of the call, in order of starts.
            in_flight: calls in progress, including this one.
            took_s: duration of the call.
            now: current time.
        """
        known_s = self._round_trip_s
        self._round_trip_s = took_s if known_s is None else known_s + SMOOTHING * (took_s - known_s)
        self._credit = min(self._credit + self._tolerated, self._tolerated * TRIPS * max(self.size, FEWEST))
        self._calls += 1
        if number > self._last_of_burst:
            self._none_succeeded = False
            self._learn(number)
            # An unused limit says nothing about what the provider accepts.
            if not self._low_calls and in_flight * 2 >= self.size:
                self._rise(now)

    def throttled(self, number: int, last_number: int, in_flight: int, pause_s: float, now: float) -> bool:
        """Record a rejected call (429).

        Args:
            number: sequence number of the call, in order of starts.
            last_number: sequence number of the call that started last.
            in_flight: calls in progress, including this one.
            pause_s: for how long no call will start now.
            now: current time.

        Returns:
            Whether this is a new reduction. Calls that started before the last reduction, or among the first after it,
            are part of that one; rare rejections are tolerated.
        """
        if number <= self._last_of_burst:
            self._rejected += 1
            self._fall(pause_s)
            return False
        self._learn(number)
        self._pauses_all = pause_s > 0
        self._low_rejections += 1
        # Some of the first are rejected before any can succeed.
        is_part = number < self._last_of_burst + self.size and self._low_rejections <= 2 + self.size * MAX_BASELINE
        if is_part or (not self._none_succeeded and self._is_tolerable()):
            self._calls += 1
            self._rejections += 1
            return False
        self._is_known = True
        self._fell_from, self._was_full = self.size, in_flight >= self.limit > 1
        self._known_before = self._ceiling, self._creep_s
        self._base, known = self.size, self._ceiling
        if self.size < known < math.inf:
            # If the level was not reached again, the provider may accept less by now.
            is_up = self._low_calls or (not pause_s and self.size >= QUICK_SHARE * known)
            self._base = known if is_up else (self.size + known) / 2
        self._none_succeeded_before, self._none_succeeded = self._none_succeeded, True
        self._tried, self._rejected = in_flight if self._was_full else last_number - number + 1, 1
        self._calls_before, self._rejections_before = self._calls, self._rejections
        self._calls = self._rejections = self._low_rejections = 0
        self._last_of_burst, self._credit = last_number, 0.0
        self._fall(pause_s)
        self._creep = None
        return True

    @property
    def _tolerated(self) -> float:
        return (0.0 if self._pauses_all else TOLERATED) + MARGIN * self._baseline

    def _is_tolerable(self) -> bool:
        if self._low_calls:
            return self._low_rejections <= 1 + self._low_calls * MAX_BASELINE
        self._credit -= 1
        return self._credit >= 0

    def _learn(self, number: int) -> None:
        """Update the baseline rejection rate once the first call after the low phase has ended."""
        if self._low_calls and number > self._last_of_burst + self._low_calls:
            self._baseline += (self._low_rejections - self._low_calls * self._baseline) / (
                self._low_calls + BASELINE_WEIGHT
            )
            self._low_calls = 0

    def _fall(self, pause_s: float) -> None:
        accepted = max(0, self._tried - self._rejected)
        went_well = accepted if self._was_full else accepted + self._calls_before - self._rejections_before
        if self._none_succeeded_before or not went_well:
            # Every call fails, which says nothing about the limit at other times.
            self._ceiling, self._creep_s = self._known_before
            self.size, self._low_calls = min(1.0, self._fell_from), 0
            return
        calls = self._calls_before + self._tried
        loss = max(0.0, (self._rejections_before + self._rejected) / calls - MARGIN * self._baseline)
        loss = max(loss, MIN_LOSS if pause_s and loss else 0.0)
        low = self._fell_from * (HALF if pause_s or loss > MAX_BASELINE else LOW)
        self._ceiling = max(low, self._base * (1 - loss))
        self.size = max(1.0, min(low, accepted)) if self._was_full else low
        self._low_calls = max(LOW_CALLS, math.ceil(LOW_TRIPS * self.size)) if loss <= MAX_BASELINE else 0
        self._creep_s = min(MAX_CREEP_S, CREEP * (pause_s + 3 * max(self.gap_s, self._round_trip_s or FIRST_GUESS_S)))

    def _rise(self, now: float) -> None:
        step = min(1.0, self.size)  # One for each success: a full round trip doubles it.
        quick = QUICK_SHARE * self._ceiling
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
