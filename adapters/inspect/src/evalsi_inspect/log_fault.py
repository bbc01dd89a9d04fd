"""What is wrong with a log of Inspect's, as a sentence with a hint.

It must not know how a log is read.
"""

from __future__ import annotations

NEWEST_VERSION = 2
"""The version of the log's form that Inspect 0.3.285 writes; a test holds it to Inspect's own number."""


class LogFault(Exception):
    """A log, or a sample of it, that cannot be read."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def check_version(name: str, version: object) -> None:
    """Refuse a log of a newer Inspect; raises `LogFault`."""
    if isinstance(version, int) and version > NEWEST_VERSION:
        raise LogFault(
            f"{name} is a log of version {version}, and this adapter reads up to {NEWEST_VERSION}.",
            "Upgrade evalsi-inspect, or write the log anew with an older Inspect.",
        )
