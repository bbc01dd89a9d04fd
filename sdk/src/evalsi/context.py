"""What an evaluator may ask of the kernel while it scores: a judge, embeddings, a sandbox, blobs.

A pack holds no key and needs no network; whatever it asks for goes through here. It must not know a provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from evalsi_protocol.errors import WireError

if TYPE_CHECKING:
    from concurrent.futures import Future


class AskError(Exception):
    """The kernel could not do what was asked; the evaluation ends as an error that carries the kernel's own."""

    def __init__(self, error: WireError) -> None:
        super().__init__(str(error))
        self.error = error


class Asker(Protocol):
    """Whoever can put a request on the wire."""

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]: ...


class Context:
    """Handed to an evaluator that takes `ctx`."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def ask(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """Ask for a capability by its protocol name, such as "judge.ask".

        Raises:
            AskError: the kernel answered with an error, "capability.not_bound" when the user named no judge.
        """
        import asyncio  # 50 ms that a pack without async evaluators need not pay.

        return await asyncio.wrap_future(self._asker.ask(method, body))

    def ask_and_wait(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """The same for an evaluator that is not async; the record's clock stands still meanwhile."""
        return self._asker.ask(method, body).result()
