"""The kernel's exceptions: a message, a hint, and a dotted code from the protocol's registry."""

from __future__ import annotations

from typing import Any

from evalsi_protocol.errors import ErrorSource, Retry, WireError


class EvalsiError(Exception):
    """An error that the user can act on: `message` says what is wrong with which value, `hint` what to do."""

    code = "kernel.internal"
    source: ErrorSource = "kernel"
    retry: Retry = "no"

    def __init__(self, message: str, hint: str = "", *, code: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def to_wire(self) -> WireError:
        """Return the error as the protocol encodes it."""
        return WireError(self.code, self.message, self.hint, self.source, self.retry)


class UsageError(EvalsiError):
    """Invalid command-line arguments, or arguments of a call; nothing was started."""

    code = "config.usage"
    source: ErrorSource = "config"


class ConfigError(EvalsiError):
    """Invalid file, param or name from the user; nothing was started."""

    code = "config.invalid"
    source: ErrorSource = "config"


class DatasetError(EvalsiError):
    """The data cannot be read as records; the message says where."""

    code = "dataset.invalid"
    source: ErrorSource = "record"


class PackEnvironmentError(EvalsiError):
    """A pack's environment cannot be built, found or started."""

    code = "environment.broken"
    source: ErrorSource = "environment"


class PackError(EvalsiError):
    """A pack violated the protocol, crashed at its start, or contradicts its manifest."""

    code = "pack.failed"
    source: ErrorSource = "pack"


class OutputError(EvalsiError):
    """The results cannot be written to the requested place."""

    code = "output.unwritable"
    source: ErrorSource = "environment"


class CacheError(EvalsiError):
    """The cache of model replies is damaged, of a newer version, or cannot be opened or written."""

    code = "cache.unusable"
    source: ErrorSource = "environment"
