"""A target whose calls another model answers where they fail for a time: each answer says whose it is.

It must not know a provider, nor how a call is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from evalsi_kernel.broker.ask import UNKNOWN_TOKENS
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.retries import UNREACHABLE
from evalsi_kernel.target import Bounds, Generated, Target, TargetInput, warnings_of

LONGEST_WAIT_S: Final = 60.0
"""A model that asks to be left alone for longer is not waited for where there is another."""


class Fallbacks:
    """The target.

    A call goes to the first model as often as it may fail, then to the next, each as its run tries it again. Only what
    may pass moves it on: a wrong key, an unknown model, a request that is refused and an answer that is a refusal are
    what they are, and asking another would hide them.

    Args:
        first: the model that is evaluated.
        others: those that answer in its place, in their order.
        after: tries that fail before the next is asked.
    """

    def __init__(self, first: Target, others: Sequence[Target], after: int) -> None:
        self._all = (first, *others)
        self._after = after
        self._turns: dict[tuple[str, int], tuple[int, int]] = {}
        self.model, self.provider = first.model, first.provider
        self.warnings = list(dict.fromkeys(one for target in (first, *others) for one in warnings_of(target)))
        self.fallbacks = [(other.provider, other.model) for other in others]
        told = {"fallbacks": [dict(other.identity) for other in others], "fallback_after": after}
        self.identity: Mapping[str, Any] = {**first.identity, **told}

    def bounds(self, given: TargetInput) -> Bounds:
        """The most that the call can take of any of them."""
        every = [target.bounds(given) for target in self._all]
        most = (_most([one.input_tokens for one in every]), _most([one.output_tokens for one in every]))
        return Bounds(*most)

    async def generate(self, given: TargetInput) -> Generated:
        """Make one call to the model whose turn it is."""
        key = (given.record["id"], given.trial)
        who, failures = self._turns.pop(key, (0, 0))
        try:
            made = await self._all[who].generate(given)
        except ProviderError as error:
            if error.is_final or error.error.retry == "no":
                raise self._told(error, who, moves_on=False) from error
            is_over = failures + 1 >= self._after or (error.retry_after_s or 0.0) > LONGEST_WAIT_S
            moves_on = is_over and who + 1 < len(self._all)
            self._turns[key] = (who + 1, 0) if moves_on else (who, failures + 1)
            raise self._told(error, who, moves_on=moves_on) from error
        if not who:
            return made
        model = self._all[who].model
        return made._replace(model=made.model or model, fallback=who, metadata={**made.metadata, "fallback": model})

    async def close(self) -> None:
        """Let go of all of them."""
        await asyncio.gather(*(target.close() for target in self._all))

    def _told(self, error: ProviderError, who: int, *, moves_on: bool) -> ProviderError:
        """The error as the run is to take it: at once where another is asked next, whoever would have to wait."""
        wire = error.error
        # A run gives an address up where nobody answers; while there is another to ask, that one is not given up yet.
        is_last = who + 1 == len(self._all)
        told = ProviderError(
            "provider.failed" if wire.code == UNREACHABLE and not is_last else wire.code,
            f"The fallback {self._all[who].model}: {wire.message}" if who else wire.message,
            wire.hint,
            source=wire.source,
            retry="same" if moves_on else wire.retry,
            retry_after_s=None if moves_on else error.retry_after_s,
            is_final=error.is_final,
            # What a fallback took is not to be priced as the first model's: it is unknown then, and never 0.
            tokens=UNKNOWN_TOKENS if who else error.tokens,
            is_page=error.is_page and is_last,
        )
        told.has_fallback = not is_last
        return told


def _most(values: Sequence[int | None]) -> int | None:
    """The most of them; None where one is unknown."""
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None
