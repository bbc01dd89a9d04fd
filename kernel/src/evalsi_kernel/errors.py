"""The kernel's exception tree: sentences with a hint, each with a dotted code from the protocol's registry.

It must not know how an error is shown; the CLI maps the tree to exit codes in one place.
"""

from __future__ import annotations

from typing import Any

from evalsi_protocol.errors import ErrorSource, Retry, WireError


class EvalsiError(Exception):
    """Something that a person can act on: `message` says what was wrong with which value, `hint` what to do."""

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
        """The same error as the protocol carries it."""
        return WireError(self.code, self.message, self.hint, self.source, self.retry)


class UsageError(EvalsiError):
    """The words of a command, or the arguments of a call, are off: nothing was started."""

    code = "config.usage"
    source: ErrorSource = "config"


class ConfigError(EvalsiError):
    """A file, a param or a name that a person wrote does not fit: nothing was started."""

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
    """A pack broke the protocol, crashed at start, or says other than its manifest."""

    code = "pack.failed"
    source: ErrorSource = "pack"


class OutputError(EvalsiError):
    """The results cannot be written where the user wants them."""

    code = "output.unwritable"
    source: ErrorSource = "environment"


class CacheError(EvalsiError):
    """The cache of model replies is damaged, of a newer version, or cannot be opened or written."""

    code = "cache.unusable"
    source: ErrorSource = "environment"
