"""Score the records of one request with one evaluator, with or without a judge.

Everything runs on the session's event loop except calls of the module, which run in threads.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from evalsi_protocol.errors import WireError
from evalsi_protocol.frames import pack
from evalsi_wasm.answers import OF_DATASET, OF_PLAN, OF_RECORD, failed
from evalsi_wasm.calls import Calls, Task
from evalsi_wasm.description import Opened
from evalsi_wasm.items import body_of
from evalsi_wasm.module import PLAN, REDUCE, SCORE
from evalsi_wasm.request_body import Refused

SLOW_S = 0.001
"""Minimum duration that is reported for a computed outcome; judged outcomes always report theirs."""
HELD_S = 0.01
"""How long outcomes are held back so that more can be sent at once: each hand-over to the loop costs a GIL switch."""
_Result = TypeVar("_Result")


class Ways(NamedTuple):
    """The functions with which a job reaches the module and the kernel.

    Args:
        calls: calls the module's functions.
        executor: runs the calls; its number of threads limits the number of instances.
        tell: sends the body of an `item` event; returns the error if it cannot be sent.
        ask: sends a capability request to the kernel.
        is_wanted: whether a request's answer is still wanted; thread-safe.
    """

    calls: Calls
    executor: Executor
    tell: Callable[[dict[str, Any]], WireError | None]
    ask: Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
    is_wanted: Callable[[int], bool]


class Job:
    """One evaluator's part of a request.

    Args:
        ways: functions to reach the module and the kernel.
        about: id of the request and session of the evaluator.
        opened: the evaluator.
        records: records of the request.
        packed: the same records as MessagePack.
        takes_runs: whether the kernel accepts runs in `item` events.
        takes_durations: whether the kernel accepts durations of outcomes.
    """

    def __init__(
        self,
        ways: Ways,
        about: tuple[int, int],
        opened: Opened,
        records: list[dict[str, Any]],
        packed: list[bytes],
        *,
        takes_runs: bool = False,
        takes_durations: bool = False,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._asking: set[int] = set()
        self._held: deque[tuple[Sequence[int], Sequence[list[Any]]]] = deque()
        self._ways = ways
        self._about = about
        self._request, self._session = about
        self._opened = opened
        self._records = records
        self._packed = packed
        self._takes_runs = takes_runs
        self._takes_durations = takes_durations

    async def score(self) -> None:
        """Send the outcome of each record as soon as it is known."""
        lacking = [self._lacking(record) for record in self._records]
        skipped = [(place, outcome) for place, outcome in enumerate(lacking) if outcome is not None]
        if skipped:
            self._tell([place for place, _ in skipped], [outcome for _, outcome in skipped])
        places = [place for place, outcome in enumerate(lacking) if outcome is None]
        await (self._judge if self._opened.judges else self._compute)(places)

    async def plans(self) -> list[Any]:
        """Return for each record the requests to the judge, or its outcome if no judge is needed."""
        plans: list[Any] = [self._lacking(record) for record in self._records]
        places = [place for place, plan in enumerate(plans) if plan is None]
        for place, plan in zip(places, await self._planned(places), strict=True):
            plans[place] = plan
        return plans

    async def outcomes(self, replies: Sequence[list[Any]]) -> list[Any]:
        """Return the outcome of each record, given the judge's replies for it."""
        outcomes: list[Any] = [_failed_reply(one) for one in replies]
        places = [place for place, outcome in enumerate(outcomes) if outcome is None]
        reduced = await self._reduced(places, [replies[place] for place in places])
        for place, outcome in zip(places, reduced, strict=True):
            outcomes[place] = outcome
        return outcomes

    async def _compute(self, places: list[int]) -> None:
        task = self._task(SCORE, places, "outcomes", OF_DATASET if self._opened.is_of_dataset else OF_RECORD)
        loop, told_at = asyncio.get_running_loop(), monotonic()

        def work() -> None:
            nonlocal told_at
            since = monotonic()
            for start, found in self._ways.calls.outcomes(task, self._is_wanted):
                # The duration of one record is only known if it was computed alone, as slow records are.
                outcomes = found if len(found) > 1 else [self._timed(one, since, at_least_s=SLOW_S) for one in found]
                self._held.append((places[start : start + len(outcomes)], outcomes))
                since = monotonic()
                if since - told_at > HELD_S:
                    told_at = since
                    loop.call_soon_threadsafe(self.flush)

        await in_thread(self._ways.executor, work)
        self.flush()

    def flush(self) -> None:
        """Send the outcomes that are held back. Call this on the session's event loop."""
        while self._held:
            self._tell(*self._held.popleft())

    def asking(self) -> list[dict[str, int]]:
        """Return the records that wait for replies, as `ping` reports them; `ms` is 0 because no guest is running."""
        return [
            {"request": self._request, "index": place, "session": self._session, "ms": 0}
            for place in sorted(self._asking)
        ]

    async def _judge(self, places: list[int]) -> None:
        """Plan, ask and reduce; each record waits only for its own replies."""
        in_flight = asyncio.Semaphore(self._opened.concurrency)

        async def one(place: int, plan: list[Any]) -> None:
            async with in_flight:
                since = monotonic()
                self._tell([place], [self._timed(await self._judged(place, plan), since)])

        plans = await self._planned(places)
        async with asyncio.TaskGroup() as group:
            for place, plan in zip(places, plans, strict=True):
                group.create_task(one(place, plan))

    async def _judged(self, place: int, plan: list[Any]) -> list[Any]:
        kind, payload = plan
        if kind != "planned":
            return plan
        requests = payload["requests"]
        body = {"session": self._session, "record": self._records[place].get("id", ""), "requests": requests}
        self._asking.add(place)
        try:
            replies = (await self._ways.ask("judge.ask", body)).get("replies")
        except Refused as refused:
            return failed(refused.error)
        finally:
            self._asking.discard(place)
        if not isinstance(replies, list) or len(replies) != len(requests):
            message = f"{len(requests)} questions did not get {len(requests)} replies."
            return failed(WireError("protocol.body", message, "", "kernel"))
        return _failed_reply(replies) or (await self._reduced([place], [replies]))[0]

    async def _planned(self, places: list[int]) -> list[list[Any]]:
        return await self._all_of(self._task(PLAN, places, "plans", OF_PLAN))

    async def _reduced(self, places: list[int], replies: Sequence[list[Any]]) -> list[list[Any]]:
        packed = [pack(one) for one in replies]
        return await self._all_of(self._task(REDUCE, places, "outcomes", OF_RECORD)._replace(replies=packed))

    async def _all_of(self, task: Task) -> list[list[Any]]:
        def work() -> list[list[Any]]:
            found = self._ways.calls.outcomes(task, self._is_wanted)
            return [outcome for _, outcomes in found for outcome in outcomes]

        outcomes = await in_thread(self._ways.executor, work)
        if len(outcomes) < len(task.records):
            raise asyncio.CancelledError
        return outcomes

    def _timed(self, outcome: list[Any], since: float, at_least_s: float = 0.0) -> list[Any]:
        """Append the duration in milliseconds, if the kernel accepts it and it is long enough; never to a state."""
        took_s = monotonic() - since
        if not self._takes_durations or took_s < at_least_s or outcome[0] == "state":
            return outcome
        return [*outcome, round(took_s * 1000, 3) or 0.001]

    def _task(self, function: str, places: list[int], key: str, admitted: frozenset[str]) -> Task:
        records = [self._packed[place] for place in places]
        return Task(function, self._opened, records, places, key, admitted, None, self._about)

    def _is_wanted(self) -> bool:
        return self._ways.is_wanted(self._request)

    def _lacking(self, record: dict[str, Any]) -> list[Any] | None:
        need = self._opened.lacks(record)
        return ["skipped", {"reason": f"record has no {need}"}] if need else None

    def _tell(self, places: Sequence[int], outcomes: Sequence[list[Any]]) -> None:
        """Send outcomes; split them into several events if one would be too large."""
        if not self._is_wanted():
            return
        body = body_of(self._request, self._session, places, outcomes, takes_runs=self._takes_runs)
        problem = self._ways.tell(body)
        if problem is None:
            self.counts.update(outcome[0] for outcome in outcomes)
        elif len(outcomes) == 1:
            self._tell(places, [failed(problem)])
        else:
            half = len(outcomes) // 2
            self._tell(places[:half], outcomes[:half])
            self._tell(places[half:], outcomes[half:])


async def in_thread(executor: Executor, work: Callable[[], _Result]) -> _Result:
    """Run `work` in a thread. Cancelling the caller does not stop it: it checks itself whether it is still wanted."""
    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(executor, work))


def _failed_reply(replies: Sequence[Any]) -> list[Any] | None:
    """Return the error outcome for the first reply that is invalid or an error; None if there is none."""
    for reply in replies:
        if not isinstance(reply, dict):
            return failed(WireError("protocol.body", "A reply is no map.", "", "kernel"))
        if isinstance(reply.get("error"), dict):
            return failed(WireError.from_body(reply["error"]))
    return None
