"""Questions on their way into batches and out of them: what was answered meanwhile, asked again, or stopped."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from evalsi_batches import batching
from evalsi_batches.batching import GatheredBatches
from evalsi_batches.following import BatchTimes
from evalsi_batches.store import BatchStore
from evalsi_kernel.broker.ask import NO_TOKENS, Ask, Reply
from evalsi_kernel.broker.batches import KeptReplies
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.judge_key import JudgeKey, judge_key
from evalsi_replies.cache import ReplyCache
from tests.batches.scripted import DONE, GOING, Scripted, failure

T = TypeVar("T")
IDENTITY = {"provider": "p", "model": "m"}
BOUND_S = 20.0
AT_ONCE = BatchTimes(quiet_s=0.0, poll_s=0.0, longest_poll_s=0.0, retry_s=0.0, gone_s=0.0, patience_s=0.0)


def asked(text: str) -> tuple[Ask, JudgeKey]:
    ask = Ask([{"role": "user", "content": text}])
    return ask, judge_key(IDENTITY, ask)


class Watched(BatchStore):
    """Files of batches, of which it is seen when one of another run is waited for."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.was_looked_at = threading.Event()

    def claim(self, name: str) -> bool:
        self.was_looked_at.set()
        return super().claim(name)


class Run:
    """The batches of a run, its cache and its notes."""

    def __init__(self, folder: Path, provider: Scripted, times: BatchTimes) -> None:
        self.notes: list[str] = []
        self.cache = ReplyCache(folder / "replies.sqlite", self.notes.append)
        self.store = Watched(folder / "batches")
        self.store.open()
        kept = KeptReplies(IDENTITY, self.cache)
        self.batches = GatheredBatches(
            IDENTITY, provider, kept=kept, store=self.store, on_note=self.notes.append, times=times
        )

    async def ask(self, text: str) -> str:
        """Ask a question to its end, as a judge does."""
        ask, key = asked(text)
        with self.batches.question(key.digest):
            reply = await self.batches.ask(ask, key.digest, key.digest)
            self.cache.put(key, reply)
            return reply.text

    async def close(self) -> None:
        await self.batches.close()
        await self.cache.close()


def in_a_run(folder: Path, provider: Scripted, work: Callable[[Run], Awaitable[T]], times: BatchTimes = AT_ONCE) -> T:
    async def whole() -> T:
        run = Run(folder, provider, times)
        try:
            async with asyncio.timeout(BOUND_S):
                return await work(run)
        finally:
            await run.close()

    return asyncio.run(whole())


def test_a_question_that_another_run_answered_meanwhile_is_not_handed_in(tmp_path: Path) -> None:
    provider = Scripted()

    async def work(run: Run) -> list[str]:
        _, key = asked("known")
        run.cache.put(key, Reply("kept"))
        return [await run.ask("known"), *await asyncio.gather(run.ask("known"), run.ask("new"))]

    assert in_a_run(tmp_path, provider, work) == ["kept", "kept", "said"]
    assert [len(asks) for asks in provider.handed_in] == [1]
    assert BatchStore(tmp_path / "batches").all() == []


def test_nothing_is_handed_in_once_the_run_is_stopped(tmp_path: Path) -> None:
    provider = Scripted()

    async def work(run: Run) -> None:
        run.batches.stop()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await run.ask("late")

    in_a_run(tmp_path, provider, work)
    assert provider.asked == []


def test_a_question_that_is_cancelled_and_asked_again_waits_for_the_same_batch(tmp_path: Path) -> None:
    is_over = asyncio.Event()
    provider = Scripted(lambda _: GOING if not is_over.is_set() else DONE)

    async def work(run: Run) -> str:
        first = asyncio.create_task(run.ask("again"))
        await provider.state_was_asked.wait()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        second = asyncio.create_task(run.ask("again"))
        await asyncio.sleep(0)
        is_over.set()
        return await second

    assert in_a_run(tmp_path, provider, work) == "said"
    assert provider.times("submit") == 1


def test_what_came_for_a_question_that_was_cancelled_is_kept(tmp_path: Path) -> None:
    is_over = asyncio.Event()
    provider = Scripted(lambda _: GOING if not is_over.is_set() else DONE)

    async def work(run: Run) -> str:
        other = asyncio.create_task(run.ask("other"))
        question = asyncio.create_task(run.ask("cancelled"))
        await provider.state_was_asked.wait()
        question.cancel()
        is_over.set()
        return await other

    # Two fill a batch; nothing is handed in before.
    assert in_a_run(tmp_path, provider, work, AT_ONCE._replace(quiet_s=BOUND_S)) == "said"

    async def kept(run: Run) -> Reply | None:
        return await run.cache.get(asked("cancelled")[1].digest)

    assert in_a_run(tmp_path, provider, kept) == Reply("said")
    assert BatchStore(tmp_path / "batches").all() == []


def test_a_question_of_a_batch_that_cannot_be_asked_after_is_not_handed_in_again(tmp_path: Path) -> None:
    provider = Scripted(lambda _: failure("provider.failed"))

    async def work(run: Run) -> list[str]:
        told = []
        for _ in range(2):
            with pytest.raises(ProviderError) as caught:
                await run.ask("once")
            told.append(str(caught.value))
        return told

    first, second = in_a_run(tmp_path, provider, work)
    assert first == second
    assert "cannot be asked after" in first
    assert provider.times("submit") == 1
    assert len(BatchStore(tmp_path / "batches").all()) == 1


def test_a_question_that_failed_in_a_batch_may_be_asked_again_in_another(tmp_path: Path) -> None:
    provider = Scripted()
    provider.fails = 1

    async def work(run: Run) -> str:
        with pytest.raises(ProviderError):
            await run.ask("twice")
        return await run.ask("twice")

    assert in_a_run(tmp_path, provider, work) == "said"
    assert provider.times("submit") == 2


def test_a_reply_is_in_the_file_of_the_cache_before_the_note_of_its_batch_is_removed(tmp_path: Path) -> None:
    async def work(run: Run) -> Reply | None:
        await run.ask("kept")
        assert await run.cache.written()
        other = ReplyCache(tmp_path / "replies.sqlite")
        try:
            return await other.get(asked("kept")[1].digest)
        finally:
            await other.close()

    assert in_a_run(tmp_path, Scripted(), work) == Reply("said")


def test_a_batch_that_another_run_noted_and_could_not_hand_in_is_handed_in_by_who_waits_for_it(tmp_path: Path) -> None:
    is_noted, is_waited_for = asyncio.Event(), asyncio.Event()

    class Refusing(Scripted):
        async def submit(self, asks: Mapping[str, Ask], tag: str = "") -> str:
            is_noted.set()
            await is_waited_for.wait()
            raise failure("provider.bad_request", is_final=True)

    async def work(two: Run) -> str:
        one = Run(tmp_path, Refusing(), AT_ONCE)
        first = asyncio.create_task(one.ask("shared"))
        await is_noted.wait()
        second = asyncio.create_task(two.ask("shared"))
        assert await asyncio.to_thread(two.store.was_looked_at.wait, BOUND_S)
        is_waited_for.set()
        with pytest.raises(ProviderError, match="bad_request"):
            await first
        await one.close()
        return await second

    provider = Scripted()
    assert in_a_run(tmp_path, provider, work) == "said"
    assert provider.times("submit") == 1
    assert BatchStore(tmp_path / "batches").all() == []


def test_a_batch_is_full_when_its_texts_are_as_long_as_a_provider_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "MAX_BYTES", 1_000)
    provider = Scripted()

    async def work(run: Run) -> str:
        return await run.ask("x" * 1_000)

    assert in_a_run(tmp_path, provider, work, AT_ONCE._replace(quiet_s=BOUND_S * 2)) == "said"


def test_a_folder_that_is_gone_ends_questions_as_errors_that_cost_nothing(tmp_path: Path) -> None:
    provider = Scripted()

    async def work(run: Run) -> ProviderError:
        (tmp_path / "batches" / "lock").unlink()
        (tmp_path / "batches").rmdir()
        (tmp_path / "batches").write_text("a file stands here")
        with pytest.raises(ProviderError, match="cannot be noted") as caught:
            await run.ask("lost")
        return caught.value

    error = in_a_run(tmp_path, provider, work)
    assert (error.error.code, error.calls, error.tokens) == ("cache.unusable", 0, NO_TOKENS)
    assert provider.asked == []
