"""The error that travels on the wire, and the local faults of a session.

It must not know what any code means; the registry of codes is `error_codes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Blame = Literal["record", "config", "pack", "environment", "judge", "provider", "kernel", "protocol"]
Retry = Literal["no", "same", "later"]

BLAMES: frozenset[str] = frozenset(get_args(Blame))
RETRIES: frozenset[str] = frozenset(get_args(Retry))


@dataclass(frozen=True, slots=True)
class WireError:
    """What was wrong with which value (`message`), what to do (`mend`), whose fault it is, and whether to try again."""

    code: str
    message: str
    mend: str = ""
    blame: Blame = "pack"
    retry: Retry = "no"

    def to_body(self) -> dict[str, Any]:
        """The body of an error frame."""
        return {
            "code": self.code,
            "message": self.message,
            "mend": self.mend,
            "blame": self.blame,
            "retry": self.retry,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> WireError:
        """Read an error frame's body; an absent or unknown `blame` reads as `pack`, an unknown `retry` as `no`."""
        blame = body.get("blame")
        retry = body.get("retry")
        return cls(
            code=str(body.get("code", "pack.failed")),
            message=str(body.get("message", "")),
            mend=str(body.get("mend", "")),
            blame=blame if blame in BLAMES else "pack",
            retry=retry if retry in RETRIES else "no",
        )

    def __str__(self) -> str:
        return f"{self.message} {self.mend}".strip()


class ProtocolError(Exception):
    """A fault of the session itself, with the error that describes it."""

    def __init__(self, error: WireError) -> None:
        super().__init__(str(error))
        self.error = error


class Violation(ProtocolError):
    """The peer broke the protocol; the session is over."""


class LocalMisuse(ProtocolError):
    """This side asked the machine for something that the protocol forbids; nothing was sent."""
