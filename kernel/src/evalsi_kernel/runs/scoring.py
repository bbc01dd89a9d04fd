"""The answers of a run, scored as they come: gathered into chunks, sent to the pools, their outcomes written down.

Evaluators with a condition come after all others, on the records of which it holds. It must not know how an answer
came about, nor what outcomes add up to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from types import MappingProxyType
from typing import Any, NamedTuple

import msgpack

from evalsi_kernel.evaluation.scorers import Scorers
from evalsi_kernel.gates.conditions import Condition, ConditionError
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.records.chunks import Chunk, Outcome
from evalsi_kernel.results.findings import WHEN_FALSE
from evalsi_kernel.runs.items import Items
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.runs.values import values_of
from evalsi_kernel.scores.tally import UNANSWERED
from evalsi_protocol.errors import WireError
from evalsi_protocol.frames import Packed
from evalsi_protocol.limits import TARGET_FRAME_BYTES

LINGER_S = 0.005
"""While the packs have work, answers that come close together go to them in one chunk."""
CHUNKS_AT_ONCE = 12
FIRST_BATCH, BATCH_S = 16, 0.5
"""A chunk's outcomes are written down together: so many answers, and later as many as are scored in that time."""
NOTHING: Mapping[Any, Any] = MappingProxyType({})
_LATER = frozenset({"judge.budget"})
"""Errors of questions that were never asked; a budget that is raised lets the next attempt ask them."""


class Ready(NamedTuple):
    """An item that waits to be scored.

    Args:
        item: its number.
        answer: what the target answered.
        kept: outcomes of an earlier attempt that stand, by session; the others are asked for.
        asked: what an earlier attempt asked of models, by session, as it was written down.
        durations: how many milliseconds the kept outcomes took, by session, where that is known.
    """

    item: int
    answer: Mapping[str, Any]
    kept: Mapping[int, Outcome] = NOTHING
    asked: Mapping[int, list[Any]] = NOTHING
    durations: Mapping[int, float] = NOTHING


class Scoring:
    """Scores answers.

    Args:
        items: of the run.
        progress: where outcomes are written down.
        scorers: the pools of the packs, and the broker, which knows what an evaluation asked a judge.
        instances: the evaluators.
        conditions: session → when it scores; the others always do.
        at_once: calls to the target at once; so many answers may come together.
        may_end_early: whether scores may end the run: then answers run ahead of them only as far as packs have work.
        on_scored: hears of each item once its outcomes are written down.
        on_broken: hears why no judge can be asked any more.
    """

    def __init__(
        self,
        items: Items,
        progress: Progress,
        scorers: Scorers,
        *,
        instances: Sequence[Instance],
        conditions: Mapping[int, Condition],
        at_once: int,
        may_end_early: bool,
        on_scored: Callable[[int, Mapping[int, Outcome]], None],
        on_broken: Callable[[WireError], None],
    ) -> None:
        self._items = items
        self._progress = progress
        self._broker, self._pools = scorers
        self._instances = {instance.session: instance for instance in instances}
        self._conditions = conditions
        self._on_scored = on_scored
        self._on_broken = on_broken
        most = max(CHUNKS_AT_ONCE, *(2 * pool.limits.max_requests for pool in self._pools))
        self._slots = asyncio.Semaphore(most)
        self._ready: asyncio.Queue[Ready | None] = asyncio.Queue(maxsize=4 * most + at_once)
        busy = max(at_once, *(pool.limits.concurrency for pool in self._pools))
        self._ahead = asyncio.Semaphore(busy) if may_end_early else None
        self._held: Ready | None = None
        self._most = FIRST_BATCH
        self._tasks: set[asyncio.Task[None]] = set()

    async def put(self, ready: Ready) -> None:
        """Take an answer; waits while too many others wait."""
        if self._ahead is not None:
            await self._ahead.acquire()
        await self._ready.put(ready)

    async def end(self) -> None:
        """Say that no more answers come."""
        await self._ready.put(None)

    async def run(self) -> None:
        """Score until the end that `end` announces; raises what a task raised."""
        try:
            while (first := self._held or await self._ready.get()) is not None:
                self._held = None
                await self._slots.acquire()
                self._raise_failures()
                task = asyncio.create_task(self._score(await self._gathered(first)))
                self._tasks.add(task)
                task.add_done_callback(lambda _: self._slots.release())
            if self._tasks:
                await asyncio.gather(*self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _raise_failures(self) -> None:
        for task in [task for task in self._tasks if task.done()]:
            self._tasks.discard(task)
            task.result()

    async def _gathered(self, first: Ready) -> list[Ready]:
        """The answers that are there, up to what a frame holds and what may be lost together."""
        if self._tasks:
            await asyncio.sleep(LINGER_S)
        batch, size = [first], self._size(first)
        while size < TARGET_FRAME_BYTES and len(batch) < self._most and not self._ready.empty():
            one = self._ready.get_nowait()
            if one is None:
                self._ready.put_nowait(None)  # The end is for the loop.
                break
            size += self._size(one)
            if size > 2 * TARGET_FRAME_BYTES:
                self._held = one
                break
            batch.append(one)
        return batch

    def _size(self, ready: Ready) -> int:
        """What an item takes on the wire, about."""
        return self._items.size_bytes(ready.item) + len(msgpack.packb(ready.answer))

    async def _score(self, batch: Sequence[Ready]) -> None:
        began_at = monotonic()
        chunk, records = self._chunk(batch)
        always = [
            tuple(session for session in pool.sessions if session not in self._conditions) for pool in self._pools
        ]
        try:
            await self._ask(chunk, batch, always)
            for session in sorted(self._conditions):
                chunk.expect((session,))
                self._hold_to_condition(chunk, session, records)
                await self._ask(chunk, batch, [(session,) if session in pool.sessions else () for pool in self._pools])
        finally:
            # Also of what is broken off, where those are kept that all evaluators have answered for.
            chunk.expect(tuple(session for session in self._instances if session not in chunk.columns))
            self._write_down(chunk, batch)
        self._most = max(1, int(len(batch) * BATCH_S / max(monotonic() - began_at, 0.001)))
        if self._ahead is not None:
            for _ in batch:
                self._ahead.release()

    def _chunk(self, batch: Sequence[Ready]) -> tuple[Chunk, list[dict[str, Any]]]:
        records = [self._items.record(ready.item, ready.answer) for ready in batch]
        sent = [self._items.on_the_wire(ready.item, record) for ready, record in zip(batch, records, strict=True)]
        packed = Packed(msgpack.packb(sent, use_bin_type=True))
        return Chunk(packed, [record["id"] for record in sent], [ready.item for ready in batch]), records

    async def _ask(self, chunk: Chunk, batch: Sequence[Ready], sessions: Sequence[tuple[int, ...]]) -> None:
        """Have the pools answer for these sessions where nothing is answered yet, and wait until they have."""
        for of_pool in sessions:
            chunk.expect(tuple(session for session in of_pool if session not in chunk.columns))
        self._put_kept(chunk, batch)
        if not chunk.unanswered:
            return
        answered = asyncio.Event()
        chunk.when_answered = answered.set
        for pool, of_pool in zip(self._pools, sessions, strict=True):
            if of_pool:
                await pool.submit(chunk, of_pool)
                pool.grow()
        await answered.wait()
        chunk.when_answered = None

    def _put_kept(self, chunk: Chunk, batch: Sequence[Ready]) -> None:
        """Outcomes that need not be asked for: those that stand, and those of records that cannot be sent."""
        for index, ready in enumerate(batch):
            refusal = self._items.refusal(ready.item)
            for session in chunk.columns:
                if refusal is not None:
                    chunk.fail(session, index, refusal)
                elif session in ready.kept:
                    chunk.put(session, index, ready.kept[session])
                    if session in ready.durations:
                        chunk.durations.setdefault(session, {})[index] = ready.durations[session]

    def _hold_to_condition(self, chunk: Chunk, session: int, records: Sequence[Mapping[str, Any]]) -> None:
        """Answer for the records of which the condition does not hold."""
        condition = self._conditions[session]
        for index, record in enumerate(records):
            if chunk.columns[session][index] is not None:
                continue
            try:
                if condition.holds({"record": record, "scores": self._scores(chunk, index)}):
                    continue
                chunk.put(session, index, ("skipped", {"reason": f"{WHEN_FALSE}{condition.source}"}))
            except ConditionError as error:
                said = f"its condition `{condition.source}` has no answer: {error}"
                hint = "Correct the evaluator's when; `has(record.metadata.key)` asks whether a key is there."
                chunk.fail(session, index, WireError("config.condition", said, hint, "config"))

    def _scores(self, chunk: Chunk, index: int) -> dict[str, Any]:
        """metric → value of the evaluators that have scored this record: a number, 1.0 for a pass, or a label."""
        return {
            metric: value
            for session, column in chunk.columns.items()
            for metric, value in values_of(self._instances[session], column[index])
        }

    def _write_down(self, chunk: Chunk, batch: Sequence[Ready]) -> None:
        broken = None if self._broker is None else self._broker.broken
        if broken is not None:
            self._on_broken(broken)
        for index, ready in enumerate(batch):
            outcomes = {session: column[index] or UNANSWERED for session, column in chunk.columns.items()}
            kinds = {outcome[0] for outcome in outcomes.values()}
            unasked = self._unasked(outcomes) if "error" in kinds else None
            if unasked is not None:
                self._on_broken(unasked)
            # What was stopped, or what no judge could be asked about, is for the next attempt.
            if "cancelled" in kinds or unasked is not None or (broken is not None and "error" in kinds):
                continue
            durations = {session: took[index] for session, took in chunk.durations.items() if index in took}
            more = {"asked": self._asked(chunk.ids[index], ready.asked), "durations": durations}
            body = {"outcomes": outcomes, **{key: told for key, told in more.items() if told}}
            self._progress.add_scored(ready.item, body, failed="error" in kinds)
            self._on_scored(ready.item, outcomes)

    @staticmethod
    def _unasked(outcomes: Mapping[int, Outcome]) -> WireError | None:
        """Why a model was not asked about an item, where it may be another time."""
        errors = [payload for kind, payload in outcomes.values() if kind == "error"]
        return next((WireError.from_body(error) for error in errors if error.get("code") in _LATER), None)

    def _asked(self, record_id: str, before: Mapping[int, list[Any]]) -> dict[int, list[Any]]:
        """What the evaluations of a record asked of models, by session, in all attempts; the ledger forgets it."""
        asked = dict(before)
        if self._broker is not None:
            ledger = self._broker.ledger
            for session in ledger.sessions:
                if entries := ledger.take(session, record_id):
                    asked[session] = [*asked.get(session, ()), *entries]
        return asked
