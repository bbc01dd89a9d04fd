"""The fields of a request's body, and the error of a request that cannot be done.

It must not know what a request asks.
"""

from __future__ import annotations

from typing import Any, TypeVar

from evalsi_protocol.errors import ErrorSource, WireError

_T = TypeVar("_T")


class Refused(Exception):
    """A request that cannot be done, or an ask that the kernel refused, with the error."""

    def __init__(self, error: WireError) -> None:
        super().__init__(str(error))
        self.error = error


def refusal(code: str, message: str, hint: str = "", source: ErrorSource = "config") -> Refused:
    """The refusal with this error."""
    return Refused(WireError(code, message, hint, source))


def wrong_body(message: str) -> Refused:
    """The refusal of a request whose body is not what the protocol says."""
    return refusal("protocol.body", message, "Follow the protocol's specification.", "kernel")


def field(body: dict[str, Any], name: str, kind: type[_T], default: _T | None = None) -> _T:
    """A field of a request's body; one that is absent and has a default is that."""
    value = body.get(name, default)
    if type(value) is not kind:
        raise wrong_body(f"{name} is of type {type(value).__name__}, not {kind.__name__}.")
    return value


def records_in(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of a request."""
    records = field(body, "records", list)
    if not all(isinstance(record, dict) for record in records):
        raise wrong_body("A record is no map.")
    return records


def as_shown(record: dict[str, Any]) -> dict[str, Any]:
    """The record as a module is handed it: by its id in the data, where the wire's tells trials of one record apart."""
    if "record_id" not in record:
        return record
    shown = {**record, "id": record["record_id"]}
    del shown["record_id"]
    return shown


def seconds_in(body: dict[str, Any], name: str, default: float) -> float:
    """A time of a request."""
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise wrong_body(f"{name} is no number above 0.")
    return value
