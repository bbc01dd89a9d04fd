"""Questions of a run, gathered into batches: half the price at a provider, and hours until they are answered.

What is handed in is on file before it is and until it is used (`store`), so that a run that is interrupted loses
no answer. It must not know who asks, a budget or a price.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import NO_TOKENS, Ask, Reply
from evalsi_kernel.broker.batches import KeptReplies
from evalsi_kernel.broker.connector import BatchConnector, ProviderError
from evalsi_kernel.broker.prices import input_tokens_bound
from evalsi_kernel.broker.retries import THROTTLED, renewed
from evalsi_kernel.errors import CacheError, ConfigError
from evalsi_protocol.errors import WireError

from .batch import Batch, tell
from .following import GONE, BatchFollower, BatchTimes, is_refusal
from .store import BatchFile, BatchStore

MAX_BYTES = 64_000_000
"""Of the texts of a batch in UTF-8; as JSON in ASCII they take three times as much at most, which providers take."""
PICKED_UP = "The same command picks it up."


class _Question(NamedTuple):
    ask: Ask
    future: asyncio.Future[Reply]


class GatheredBatches:
    """The batches of one model, as the kernel's `Batches`.

    Args:
        identity: of the model.
        connector: of the model.
        kept: the replies that the broker keeps of this model; None where it keeps none.
        store: where batches are noted.
        on_note: gets a sentence for a person, such as how far a batch is.
        times: how long to wait.
    """

    def __init__(
        self,
        identity: Mapping[str, str],
        connector: BatchConnector,
        *,
        kept: KeptReplies | None,
        store: BatchStore,
        on_note: Callable[[str], None],
        times: BatchTimes = BatchTimes(),  # noqa: B008 -- a plain tuple.
    ) -> None:
        self._identity = identity
        self._connector = connector
        self._kept = kept
        self._store = store
        self._on_note = on_note
        self._times = times
        self._follower = BatchFollower(connector, times, on_note, self._known_ids)
        self._pending: dict[str, _Question] = {}
        self._pending_bytes = 0
        self._last_came_s = 0.0
        self._quiet: asyncio.TimerHandle | None = None
        self._noting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._batches: dict[str, Batch] = {}
        self._batch_of: dict[str, Batch] = {}
        self._asked_for: dict[str, list[str]] = {}
        self._broken: ProviderError | None = None
        self._is_stopped = False

    async def open(self) -> None:
        """Note where, and ask whether the model's server has batches at all; as the kernel's `Batches`."""
        await asyncio.to_thread(self._store.open)
        try:
            await self._connector.recent(time.time())
        except ProviderError as error:
            # Whatever else is wrong may be repaired by the time that there are questions, and is told with them.
            if error.error.code in GONE:
                raise ConfigError(f"There are no batches: {error.error.message}", "Leave out --judge-batch.") from error

    def stop(self) -> None:
        """Hand in nothing more: the run is about to end."""
        self._is_stopped = True

    @contextmanager
    def question(self, name: str) -> Iterator[None]:
        """While a question is answered, by one ask or several; what was handed in for it stays on file until its end.

        A question that is cancelled has no end: a later run needs what was handed in for it.
        """
        try:
            yield
        except Exception:
            self._finish(name)
            raise
        self._finish(name)

    async def ask(self, ask: Ask, custom_id: str, question: str) -> Reply:
        """The reply to an ask, once a batch that holds it has ended.

        Args:
            ask: what to ask.
            custom_id: tells equal asks of one model from all others, in every run: the digest of its key.
            question: for which `question` it is asked.

        Raises:
            ProviderError: there is none.
        """
        if self._broken is not None:
            raise renewed(self._broken, self._broken.error.message, 0, NO_TOKENS)
        self._asked_for.setdefault(question, []).append(custom_id)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._add({custom_id: _Question(ask, future)})
        return await future

    async def close(self) -> None:
        """Leave batches that have not ended to the provider, on file, and say so; take what nobody asked for."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._times.goodbye_s):
                for batch in list(self._batches.values()):
                    await batch.handed_in.wait()
        if self._quiet is not None:
            self._quiet.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for batch in list(self._batches.values()):
            if batch.is_read:
                self._take_unused(batch)
                if batch.used.is_set():
                    await self._forget(batch)
            elif batch.error is None and batch.file.batch_id is not None:
                self._on_note(f"The batch {batch.file.batch_id} goes on at the provider. {PICKED_UP}")
            elif batch.error is None:
                self._on_note(f"A batch was being handed in; it may be at the provider. {PICKED_UP}")
        await asyncio.to_thread(self._store.close)

    # -- from questions to batches --------------------------------------------------------------------------------

    def _add(self, questions: Mapping[str, _Question]) -> None:
        """Have questions answered by the batches that hold them, or gather them for the next one."""
        for custom_id, question in self._not_in_a_batch(questions).items():
            self._pending[custom_id] = question
            self._pending_bytes += input_tokens_bound(question.ask)
            self._last_came_s = asyncio.get_running_loop().time()
            if len(self._pending) >= self._connector.max_batch_asks or self._pending_bytes >= MAX_BYTES:
                self._hand_in_pending()
        if self._pending and self._quiet is None:
            self._hand_in_when_quiet()

    def _not_in_a_batch(self, questions: Mapping[str, _Question]) -> dict[str, _Question]:
        """Those that no batch holds; the others are told by theirs."""
        left = {}
        for custom_id, question in questions.items():
            batch = self._batch_of.get(custom_id)
            if batch is not None:
                batch.wait_for(custom_id, question.future)
            elif not question.future.done():
                left[custom_id] = question
        return left

    def _hand_in_when_quiet(self) -> None:
        loop = asyncio.get_running_loop()
        ready_s = self._last_came_s + self._times.quiet_s
        if ready_s > loop.time():
            self._quiet = loop.call_at(ready_s, self._hand_in_when_quiet)
        else:
            self._quiet = None
            self._hand_in_pending()

    def _hand_in_pending(self) -> None:
        questions, self._pending, self._pending_bytes = self._pending, {}, 0
        if questions and not self._is_stopped:
            self._start(self._hand_in(questions))

    async def _hand_in(self, questions: Mapping[str, _Question]) -> None:
        async with self._noting:
            left = self._not_in_a_batch(questions)
            if not left or self._is_stopped:
                return
            try:
                batches = await self._note(left)
            except Exception as error:
                for question in left.values():
                    tell(question.future, _fault(error))
                if not isinstance(error, CacheError):
                    raise
                return
            for path in sorted(self._store.unreadable):
                self._on_note(f"The note of a batch cannot be read, and is left alone: {path}.")
            self._store.unreadable.clear()
            for batch in batches:
                self._adopt(batch)
            self._add(left)

    async def _note(self, questions: Mapping[str, _Question]) -> list[Batch]:
        """Batches on file that hold some of these questions, and a new one of the others; raises `CacheError`.

        A batch is taken from the files when its replies are in the cache. So what is in no file now, and not in the
        cache after, was asked by no run; and no other run notes anything meanwhile.
        """
        with ExitStack() as stack:
            await asyncio.to_thread(stack.enter_context, self._store.alone())
            batches = [Batch(file, is_found=True) for file in await asyncio.to_thread(self._found, set(questions))]
            held = {custom_id for batch in batches for custom_id in batch.file.asks}
            left: dict[str, Ask] = {}
            for custom_id, (ask, future) in questions.items():
                if custom_id not in held:
                    reply = None if self._kept is None else await self._kept.get(custom_id, ask)
                    if reply is not None:
                        tell(future, reply)
                    else:
                        left[custom_id] = ask
            if left:
                is_cached = self._kept is not None
                file = await asyncio.to_thread(self._store.create, self._identity, left, is_cached=is_cached)
                batches.append(Batch(file, is_found=False))
        return batches

    def _found(self, custom_ids: set[str]) -> list[BatchFile]:
        """The batches on file that hold some of these asks, each ask in one."""
        found = []
        for file in self._store.all():
            is_of_use = file.is_cached == (self._kept is not None) and not custom_ids.isdisjoint(file.asks)
            # Runs without a cache ask anew, each for itself; only what was left behind is picked up.
            if is_of_use and file.name not in self._batches and (file.is_cached or self._store.claim(file.name)):
                found.append(file)
                custom_ids -= file.asks.keys()
        return found

    # -- one batch ------------------------------------------------------------------------------------------------

    def _adopt(self, batch: Batch) -> None:
        self._batches[batch.file.name] = batch
        for custom_id in batch.file.asks:
            self._batch_of.setdefault(custom_id, batch)
        batch.task = self._start(self._follow(batch))

    async def _follow(self, batch: Batch) -> None:
        try:
            if batch.file.batch_id is None and not await self._hand_in_once(batch):
                return
            batch.handed_in.set()
            how = "picked up" if batch.is_found else "handed in"
            self._on_note(f"batch {batch.file.batch_id}: {how}, {len(batch.file.asks):,} questions")
            await self._follower.follow(batch)
            batch.is_read = True
            await batch.used.wait()
            await self._forget(batch)
        except Exception as error:
            await self._give_up(batch, _fault(error))
            if not isinstance(error, ProviderError | CacheError):
                raise

    async def _hand_in_once(self, batch: Batch) -> bool:
        """Get a batch its id; False where it is gone, since whoever would have handed it in has not."""
        name = batch.file.name
        while batch.is_found:
            is_ours = await asyncio.to_thread(self._store.claim, name)
            file = await asyncio.to_thread(self._store.read, name)
            if file is None:
                self._drop(batch)
                batch.handed_in.set()
                asks = batch.file.asks
                self._add({one: _Question(asks[one], future) for one, future in batch.give_back().items()})
                return False
            batch.file = file
            if file.batch_id is not None:
                return True
            if is_ours:
                break
            await asyncio.sleep(self._times.poll_s)
        batch_id = await self._follower.hand_in(batch.file, may_be_there=batch.is_found)
        batch.file = batch.file._replace(batch_id=batch_id)
        try:
            await asyncio.to_thread(self._store.write, batch.file)
        except CacheError as error:
            self._on_note(f"{error.message} This is so with the batch {batch_id}: do not interrupt this run.")
        return True

    async def _give_up(self, batch: Batch, error: ProviderError) -> None:
        """End all asks of a batch that cannot be handed in or followed; its file stays where it may be answered yet."""
        batch_id, wire = batch.file.batch_id, error.error
        if batch_id is None:
            is_over = is_refusal(error) or wire.code == THROTTLED
            told = renewed(error, wire.message, 0, NO_TOKENS)
        elif wire.code in GONE:
            is_over = True
            message = f"The provider has the batch {batch_id} no more: {wire.message}"
            told = ProviderError(wire.code, message, "Run again, and it is asked anew.")
        else:
            is_over = False
            message = f"The batch {batch_id} cannot be asked after: {wire.message}"
            told = ProviderError(wire.code, message, f"{wire.hint} {PICKED_UP}".strip(), source=wire.source)
            told.calls, told.tokens = 0, NO_TOKENS
        if error.is_final and not (batch_id and is_over):
            self._broken = told
        batch.fail(told)
        batch.handed_in.set()
        with suppress(CacheError):
            await asyncio.to_thread(self._store.remove if is_over else self._store.let_go, batch.file.name)
        if is_over:
            self._drop(batch)

    async def _forget(self, batch: Batch) -> None:
        """Remove the file of a batch whose replies are all used, once they are in the cache too, where there is one."""
        is_kept = self._kept is None or await self._kept.written()
        with suppress(CacheError):
            await asyncio.to_thread(self._store.remove if is_kept else self._store.let_go, batch.file.name)
        self._drop(batch)

    def _drop(self, batch: Batch) -> None:
        self._batches.pop(batch.file.name, None)
        for custom_id in batch.file.asks:
            if self._batch_of.get(custom_id) is batch:
                del self._batch_of[custom_id]

    def _finish(self, question: str) -> None:
        for custom_id in self._asked_for.pop(question, ()):
            batch = self._batch_of.get(custom_id)
            if batch is not None:
                batch.finish(custom_id)
                if batch.error is None:
                    del self._batch_of[custom_id]

    def _take_unused(self, batch: Batch) -> None:
        """Put into the cache what came for questions that this run did not ask, or did not see to their end."""
        if self._kept is not None and not self._kept.is_well:
            return
        for custom_id, end in batch.unused.items():
            ask = batch.file.asks[custom_id]
            is_kept = self._kept is not None and isinstance(end, Reply) and self._kept.put(ask, end)
            if is_kept or isinstance(end, ProviderError) or not batch.is_asked(custom_id):
                batch.finish(custom_id)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _known_ids(self) -> set[str]:
        files = await asyncio.to_thread(self._store.all)
        return {file.batch_id for file in files if file.batch_id is not None}


def _fault(error: Exception) -> ProviderError:
    """What ends an ask, whatever went wrong with its batch; it may be answered another time."""
    if isinstance(error, ProviderError):
        return error
    if isinstance(error, CacheError):
        fault = error.to_wire()
    else:
        fault = WireError(
            "kernel.internal", f"The kernel failed at a batch: {type(error).__name__}: {error}", "Report it.", "kernel"
        )
    told = ProviderError(fault.code, fault.message, fault.hint, source=fault.source, retry="later", tokens=NO_TOKENS)
    told.calls = 0
    return told
