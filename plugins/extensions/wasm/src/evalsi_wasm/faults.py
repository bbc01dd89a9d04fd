"""The exception for every fault of a guest; its `error` is sent to the kernel."""

from __future__ import annotations

from evalsi_protocol.errors import WireError


class GuestFault(Exception):
    """Raised when a guest cannot be loaded, stops, or gives an invalid answer.

    Args:
        code: error code.
        message: what is wrong, as a sentence.
        hint: what the author of the pack can do.
        is_fatal: whether the instance must be discarded.
    """

    def __init__(self, code: str, message: str, hint: str, *, is_fatal: bool = True) -> None:
        super().__init__(message)
        self.error = WireError(code, message, hint, "pack")
        self.is_fatal = is_fatal


def unusable(module: str, what: str, hint: str) -> GuestFault:
    """Return the fault of a module that cannot be loaded; `what` continues a sentence about the module."""
    return GuestFault("pack.import", f"{module} {what}.", hint)


def bad_answer(what: str) -> GuestFault:
    """Return the fault of an answer that does not follow the ABI; the instance remains usable."""
    hint = "Answer as docs/reference/wasm-abi.md says."
    return GuestFault("pack.bad_answer", f"The module's answer {what}.", hint, is_fatal=False)
