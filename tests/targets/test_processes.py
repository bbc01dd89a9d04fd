"""What functions and commands in lines share: who is in flight, how lines are cut, processes that are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.target import Target
from evalsi_targets.line_stream import LineStream, TooLong
from evalsi_targets.turns import Turns
from tests.processes import still_running
from tests.targets.asking import ask, ask_until_settled, failure, opened, with_target

CODE = """\
import os, threading

others = threading.Event()

def answer(text):
    if text == "pid":
        return os.getpid()
    if text.startswith("wait"):
        others.wait(3600)
    if text == "poison":
        os._exit(1)
    return text
"""


@pytest.fixture
def function(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "agent.py").write_text(CODE)
    return {"function": "./agent.py:answer"}


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"-"))), st.data())
def test_lines_are_the_same_however_they_come(lines: list[bytes], data: st.DataObject) -> None:
    sent = b"".join(line + b"\n" for line in lines)
    stream = LineStream(most_bytes=20)
    got: list[bytes] = []
    while sent:
        size = data.draw(st.integers(1, len(sent)))
        got += stream.fed(sent[:size])
        sent = sent[size:]
    assert got == lines


@pytest.mark.parametrize("pieces", [[b"x" * 21], [b"x" * 20, b"x"], [b"a\n" + b"x" * 21 + b"\nb\n"]])
def test_a_line_that_is_too_long_is_told_and_those_before_it_come(pieces: list[bytes]) -> None:
    stream = LineStream(most_bytes=20)
    got: list[bytes] = []
    with pytest.raises(TooLong):
        got.extend(line for piece in pieces for line in stream.fed(piece))
    assert got == ([b"a"] if b"a" in pieces[0] else [])


@given(st.lists(st.none() | st.integers(1, 4), min_size=1, max_size=12))
def test_nobody_is_among_more_than_it_bears_and_everybody_gets_a_turn(limits: list[int | None]) -> None:
    within: list[int | None] = []
    done = 0

    async def be_within(turns: Turns, most: int | None) -> None:
        nonlocal done
        async with turns.taken(most):
            within.append(most)
            assert len(within) <= min((one for one in within if one is not None), default=len(within))
            await asyncio.sleep(0)
            within.remove(most)
            done += 1

    async def all_of_them() -> None:
        turns = Turns()
        await asyncio.gather(*(be_within(turns, most) for most in limits))

    asyncio.run(all_of_them())
    assert done == len(limits)


def test_one_that_gives_up_waiting_holds_up_nobody() -> None:
    async def used() -> str:
        turns = Turns()
        async with turns.taken(None):
            alone = asyncio.ensure_future(turns.taken(1).__aenter__())
            await asyncio.sleep(0)
            behind = asyncio.ensure_future(turns.taken(None).__aenter__())
            await asyncio.sleep(0)
            assert not behind.done()
            alone.cancel()
            async with asyncio.timeout(60):
                await behind
        return "in"

    assert asyncio.run(used()) == "in"


def test_a_process_that_is_killed_from_outside_loses_no_call_that_may_be_made_again(
    tmp_path: Path, function: dict[str, Any]
) -> None:
    async def used(target: Target) -> Any:
        first = (await ask(target, "pid")).output
        waiting = [asyncio.ensure_future(failure(ask(target, f"wait {number}"))) for number in range(3)]
        await ask(target, "they have been sent")
        os.kill(first, signal.SIGKILL)
        killed = await asyncio.gather(*waiting)
        return first, killed, (await ask_until_settled(target, "pid")).output

    first, killed, second = with_target("python", tmp_path, used, **function)
    assert first != second
    assert {one.error.retry for one in killed} == {"same"}
    assert "was killed by SIGKILL" in killed[0].error.message
    assert still_running([first, second]) == []


def test_one_that_dies_while_nothing_is_asked_is_started_again_without_a_word(
    tmp_path: Path, function: dict[str, Any]
) -> None:
    async def used(target: Target) -> Any:
        first = (await ask(target, "pid")).output
        os.kill(first, signal.SIGKILL)
        assert still_running([first]) == []
        return first, (await ask_until_settled(target, "pid")).output

    first, second = with_target("python", tmp_path, used, **function)
    assert first != second


def test_one_poisoned_call_among_many_is_the_only_error(tmp_path: Path, function: dict[str, Any]) -> None:
    async def used(target: Target) -> list[Any]:
        texts = [f"t{number}" for number in range(40)]
        texts[17] = "poison"
        calls = (ask_until_settled(target, text) for text in texts)
        return list(await asyncio.gather(*calls, return_exceptions=True))

    made = with_target("python", tmp_path, used, at_once=40, **function)
    assert [number for number, one in enumerate(made) if isinstance(one, ProviderError)] == [17]
    assert not made[17].is_final


def test_a_run_that_has_answers_bears_some_breaks_in_a_row_and_not_any_number(
    tmp_path: Path, function: dict[str, Any]
) -> None:
    async def used(target: Target) -> list[bool]:
        await ask(target, "a")
        made = [await failure(ask_until_settled(target, "poison", trial)) for trial in range(10)]
        return [one.is_final for one in made]

    assert with_target("python", tmp_path, used, **function) == [False] * 9 + [True]


@pytest.mark.parametrize("kind", ["python", "command"])
def test_a_call_that_is_broken_off_leaves_nothing(tmp_path: Path, function: dict[str, Any], kind: str) -> None:
    options = (
        function if kind == "python" else {"command": [sys.executable, "-S", "-c", "import time; time.sleep(3600)"]}
    )

    async def used() -> None:
        async with opened(kind, tmp_path, **options) as target:
            call = asyncio.ensure_future(ask(target, "wait"))
            await asyncio.sleep(0.1)  # Wherever it is by then, it must end.
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)

    asyncio.run(used())
