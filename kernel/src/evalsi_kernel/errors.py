"""The kernel's exception tree: sentences with a mend, each with a dotted code from the protocol's registry.

It must not know how an error is shown; the CLI maps the tree to exit codes in one place.
"""

from __future__ import annotations

from typing import Any

from evalsi_protocol.errors import Blame, Retry, WireError


class EvalsiError(Exception):
    """Something that a person can act on: `message` says what was wrong with which value, `mend` what to do."""

    code = "kernel.internal"
    blame: Blame = "kernel"
    retry: Retry = "no"

    def __init__(self, message: str, mend: str = "", *, code: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.mend = mend
        self.details = details
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message} {self.mend}".strip()

    def to_wire(self) -> WireError:
        """The same error as the protocol carries it."""
        return WireError(self.code, self.message, self.mend, self.blame, self.retry)


class UsageError(EvalsiError):
    """The words of a command, or the arguments of a call, are off: nothing was started."""

    code = "config.usage"
    blame: Blame = "config"


class ConfigError(EvalsiError):
    """A file, a param or a name that a person wrote does not fit: nothing was started."""

    code = "config.invalid"
    blame: Blame = "config"


class DatasetError(EvalsiError):
    """The data cannot be read as records; the message says where."""

    code = "dataset.invalid"
    blame: Blame = "record"


class PackEnvironmentError(EvalsiError):
    """A pack's environment cannot be built, found or started."""

    code = "environment.broken"
    blame: Blame = "environment"


class PackError(EvalsiError):
    """A pack broke the protocol, crashed at start, or says other than its manifest."""

    code = "pack.failed"
    blame: Blame = "pack"


class OutputError(EvalsiError):
    """The results cannot be written where the user wants them."""

    code = "output.unwritable"
    blame: Blame = "environment"


class CacheError(EvalsiError):
    """The cache of model replies is damaged, of a newer version, or cannot be opened or written."""

    code = "cache.unusable"
    blame: Blame = "environment"
