"""The error that travels on the wire, and the local faults of a session.

It must not know what any code means; the registry of codes is `error_codes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast, get_args

from evalsi_protocol.limits import MAX_ERROR_CHARS

ErrorSource = Literal["record", "config", "pack", "environment", "judge", "provider", "kernel", "protocol"]
Retry = Literal["no", "same", "later"]

SOURCES: frozenset[str] = frozenset(get_args(ErrorSource))
RETRIES: frozenset[str] = frozenset(get_args(Retry))


class WireError(NamedTuple):
    """What was wrong with which value (`message`), what to do (`hint`), whose fault it is, and whether to try again.

    `traceback` is that of the exception behind it, "" where there is none or it was sent before.
    """

    code: str
    message: str
    hint: str = ""
    source: ErrorSource = "pack"
    retry: Retry = "no"
    traceback: str = ""

    def to_body(self) -> dict[str, Any]:
        """The body of an error frame; texts are cut and escaped where needed, so that it can always be sent."""
        body = {
            "code": self.code,
            "message": sendable(self.message),
            "hint": sendable(self.hint),
            "source": self.source,
            "retry": self.retry,
        }
        if self.traceback:
            # Its end says most.
            body["traceback"] = sendable(self.traceback[-MAX_ERROR_CHARS:])
        return body

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> WireError:
        """Read an error's body; what is absent or not text reads as `pack.failed`, "", source `pack` and retry `no`."""
        source, retry = _text(body, "source"), _text(body, "retry")
        return cls(
            code=_text(body, "code") or "pack.failed",
            message=_text(body, "message"),
            hint=_text(body, "hint"),
            source=cast(ErrorSource, source) if source in SOURCES else "pack",
            retry=cast(Retry, retry) if retry in RETRIES else "no",
            traceback=_text(body, "traceback"),
        )

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def sendable(text: str) -> str:
    """The text as it may travel in an error or a reason: lone surrogates escaped, cut at `MAX_ERROR_CHARS`."""
    if len(text) > MAX_ERROR_CHARS:
        text = text[: MAX_ERROR_CHARS - 1] + "…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    return value if isinstance(value, str) else ""


class ProtocolError(Exception):
    """A fault of the session itself, with the error that describes it."""

    def __init__(self, error: WireError) -> None:
        super().__init__(str(error))
        self.error = error


class Violation(ProtocolError):
    """The peer broke the protocol; the session is over."""


class LocalMisuse(ProtocolError):
    """This side asked the machine for something that the protocol forbids; nothing was sent."""
