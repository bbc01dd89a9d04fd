"""What can be wrong with a guest, as one exception that becomes one error on the wire.

It must not know wasmtime.
"""

from __future__ import annotations

from evalsi_protocol.errors import WireError


class GuestFault(Exception):
    """A guest that cannot be loaded, that stopped, or whose answer cannot be taken.

    Args:
        code: of the registry.
        message: what was wrong, as a sentence.
        hint: what its author can do.
        is_fatal: the instance can no longer be trusted and is thrown away.
    """

    def __init__(self, code: str, message: str, hint: str, *, is_fatal: bool = True) -> None:
        super().__init__(message)
        self.error = WireError(code, message, hint, "pack")
        self.is_fatal = is_fatal


def unusable(module: str, what: str, hint: str) -> GuestFault:
    """The fault of a module that no instance can be made of."""
    return GuestFault("pack.import", f"{module} {what}.", hint)


def bad_answer(what: str) -> GuestFault:
    """The fault of an answer that does not follow the ABI; the instance itself may go on."""
    hint = "Answer as docs/reference/wasm-abi.md says."
    return GuestFault("pack.bad_answer", f"The module's answer {what}.", hint, is_fatal=False)
