"""One process that answers many calls, JSON lines in and out: started when it is needed, and again when it breaks.

It must not know what is asked, nor in which language it is answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from evalsi_kernel.broker.connector import ProviderError

from .child_process import Program
from .leash import Leash
from .line_life import Asked, Life
from .turns import Turns

MOST_BREAKS = 3
"""After so many breaks in a row, each a single call's own, nothing more is asked where no call was answered yet."""
MOST_BREAKS_LATER = 10
"""The same where some were: a run may well end with the few calls that cannot be answered."""
START_TIMEOUT_S = 300.0
_NEARLY = 0.9
_PARTS = 8  # A run gives a call up after seven tries; of 64 in flight the cause is found with the third.


class LineSettings(NamedTuple):
    """How a process is talked to.

    Args:
        whose: what it is called, to begin a sentence with.
        timeout_s: how long one answer may take.
        tells_ready: its first line says whether it is ready, which may take as long as `START_TIMEOUT_S`.
        hint: what to do where it breaks.
    """

    whose: str
    timeout_s: float
    tells_ready: bool
    hint: str


class Answered(NamedTuple):
    """What a call brought.

    Args:
        answer: of the process, without an id.
        waited_s: how much of the call passed before the process had started.
    """

    answer: dict[str, Any]
    waited_s: float


class LineProcess:
    """The process.

    One that breaks (it ends, or writes what is no answer) fails all calls in flight, of which any may be the cause.
    Where there were several, each is made again with an eighth as many beside it; one that was alone is made again
    where an answer came before, since the process may have been about to end anyway. So in the end the cause alone is
    an error.

    Args:
        program: what is started.
        leash: ends it with the run.
        settings: how it is talked to.
    """

    def __init__(self, program: Program, leash: Leash, settings: LineSettings) -> None:
        self._program = program
        self._leash = leash
        self._settings = settings
        self._starting = asyncio.Lock()
        self._turns = Turns()
        self._life: Life | None = None
        self._suspects: dict[Hashable, int] = {}
        self._breaks = 0
        self._has_answered = False

    async def ask(self, key: Hashable, body: Mapping[str, Any]) -> Answered:
        """The answer to a call.

        Args:
            key: tells the same call again.
            body: what is asked, without an id.

        Raises:
            ProviderError: no answer came.
        """
        async with self._turns.taken(self._suspects.get(key)):
            since_s = asyncio.get_running_loop().time()
            life = await self._running()
            answer = await self._answer(life, key, body)
        self._breaks, self._has_answered = 0, True
        self._suspects.pop(key, None)
        return Answered(answer, max(0.0, life.up_s - since_s))

    async def close(self) -> None:
        """End the process."""
        life, self._life = self._life, None
        if life is not None:
            await life.stop()

    async def _answer(self, life: Life, key: Hashable, body: Mapping[str, Any]) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        asked = Asked(key, loop.time(), loop.create_future())
        number = life.ask(body, asked)
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                return await asked.answer
        except TimeoutError:
            life.waiting.pop(number, None)
            self._hung(life)
            raise self._timeout() from None
        finally:
            life.waiting.pop(number, None)

    async def _running(self) -> Life:
        """The life that can be asked: one that is up, or one that was not asked yet, which shows whether it is up."""
        async with self._starting:
            while True:
                if self._life is None or self._life.is_over:
                    self._life = await self._started()
                life = self._life
                if life.is_unasked or life.up.done():
                    return life
                await asyncio.wait({life.up}, timeout=self._settings.timeout_s)
                if not life.is_over:
                    return life

    async def _started(self) -> Life:
        whose = self._settings.whose
        life = Life(self._broke, tells_ready=self._settings.tells_ready)
        try:
            await life.start(self._program, self._leash)
        except OSError as error:
            raise self._failed(f"{whose} cannot be started: {error.strerror or error}.", is_final=True) from error
        if self._settings.tells_ready:
            try:
                async with asyncio.timeout(START_TIMEOUT_S):
                    said = await life.ready
            except TimeoutError:
                life.over()
                raise self._failed(f"{whose} did not get ready within {START_TIMEOUT_S:g} s.", is_final=True) from None
            if said is None:
                raise self._failed(f"{whose} cannot be loaded: its process {life.ending()}.", is_final=True)
            if "failed" in said:
                life.over()
                raise self._failed(f"{whose} cannot be loaded: {said['failed']}.", is_final=True)
        return life

    def _hung(self, life: Life) -> None:
        """End a process that does not answer: who waited nearly as long hung too, and others are made again."""
        now = asyncio.get_running_loop().time()
        others = life.over()
        self._breaks += 1
        for one in others:
            if now - one.since_s > _NEARLY * self._settings.timeout_s or self._is_final:
                one.fail(self._timeout())
            else:
                one.fail(self._failed("Another call hung, so its process was ended.", retry=True))

    def _broke(self, life: Life, asked: list[Asked], what: str) -> None:
        """Take in that the process broke while these calls were in flight."""
        is_the_cause = len(asked) == 1 and not life.answers
        self._breaks += is_the_cause
        message = f"{self._settings.whose} {what}."
        for one in asked:
            if not is_the_cause:
                self._suspects[one.key] = max(1, len(asked) // _PARTS)
                one.fail(self._failed(message, retry=True))
            else:
                one.fail(self._failed(message, is_final=self._is_final))

    @property
    def _is_final(self) -> bool:
        return self._breaks >= (MOST_BREAKS_LATER if self._has_answered else MOST_BREAKS)

    def _failed(self, message: str, *, retry: bool = False, is_final: bool = False) -> ProviderError:
        if is_final and self._is_final:
            message += f" That was {self._breaks} times in a row, without an answer between."
        return ProviderError(
            "target.failed", message, self._settings.hint, retry="same" if retry else "no", is_final=is_final
        )

    def _timeout(self) -> ProviderError:
        return ProviderError(
            "target.timeout",
            f"{self._settings.whose} did not answer within {self._settings.timeout_s:g} seconds, and was ended.",
            "Raise spec.target.timeout_s, or find out where it hangs.",
            is_final=self._is_final,
        )
