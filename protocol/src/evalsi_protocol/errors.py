"""Errors on the wire, and exceptions of a session. The registry of codes is `error_codes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast, get_args

from evalsi_protocol.limits import MAX_ERROR_CHARS

ErrorSource = Literal["record", "config", "pack", "environment", "judge", "provider", "kernel", "protocol"]
Retry = Literal["no", "same", "later"]

SOURCES: frozenset[str] = frozenset(get_args(ErrorSource))
RETRIES: frozenset[str] = frozenset(get_args(Retry))


class WireError(NamedTuple):
    """An error as sent on the wire.

    Args:
        code: code from the registry.
        message: what is wrong with which value.
        hint: what to do about it; "" if nothing.
        source: which side caused the error.
        retry: whether to retry: "no", "same" (at once) or "later".
        traceback: traceback of the underlying exception; "" if there is none or it was already sent.
    """

    code: str
    message: str
    hint: str = ""
    source: ErrorSource = "pack"
    retry: Retry = "no"
    traceback: str = ""

    def to_body(self) -> dict[str, Any]:
        """Return the body of an error frame. Texts are truncated and escaped, so that it can always be sent."""
        body = {
            "code": self.code,
            "message": sendable(self.message),
            "hint": sendable(self.hint),
            "source": self.source,
            "retry": self.retry,
        }
        if self.traceback:
            # The end of a traceback is the most informative.
            body["traceback"] = sendable(self.traceback[-MAX_ERROR_CHARS:])
        return body

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> WireError:
        """Read an error's body. Missing or invalid fields become `pack.failed`, "", source `pack` and retry `no`."""
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
    """Return a text that can be sent: lone surrogates escaped, truncated to `MAX_ERROR_CHARS`."""
    if len(text) > MAX_ERROR_CHARS:
        text = text[: MAX_ERROR_CHARS - 1] + "…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    return value if isinstance(value, str) else ""


class ProtocolError(Exception):
    """An error of the session itself."""

    def __init__(self, error: WireError) -> None:
        super().__init__(str(error))
        self.error = error


class Violation(ProtocolError):
    """The peer violated the protocol; the session is over."""


class LocalMisuse(ProtocolError):
    """This side called the machine in a way that the protocol forbids; nothing was sent."""
