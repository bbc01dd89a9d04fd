"""Error of a log of Inspect, with a hint."""

from __future__ import annotations

NEWEST_VERSION = 2
"""Version of the log format that Inspect 0.3.285 writes; a test compares it with Inspect's own number."""


class LogFault(Exception):
    """A log or one of its samples cannot be read."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def check_version(name: str, version: object) -> None:
    """Raise `LogFault` for a log of a newer version."""
    if isinstance(version, int) and version > NEWEST_VERSION:
        raise LogFault(
            f"{name} is a log of version {version}, and this adapter reads up to {NEWEST_VERSION}.",
            "Upgrade evalsi-inspect, or write the log anew with an older Inspect.",
        )
