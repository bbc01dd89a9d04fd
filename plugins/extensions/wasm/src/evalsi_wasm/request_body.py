"""Read fields of a request body; invalid ones raise `Refused`."""

from __future__ import annotations

from typing import Any, TypeVar

from evalsi_protocol.errors import ErrorSource, WireError

_T = TypeVar("_T")


class Refused(Exception):
    """Raised for a request that cannot be served, or when the kernel answers a capability request with an error."""

    def __init__(self, error: WireError) -> None:
        super().__init__(str(error))
        self.error = error


def refusal(code: str, message: str, hint: str = "", source: ErrorSource = "config") -> Refused:
    """Return a `Refused` exception with this error."""
    return Refused(WireError(code, message, hint, source))


def wrong_body(message: str) -> Refused:
    """Return a `Refused` exception for a body that violates the protocol."""
    return refusal("protocol.body", message, "Follow the protocol's specification.", "kernel")


def field(body: dict[str, Any], name: str, kind: type[_T], default: _T | None = None) -> _T:
    """Return a field of a request body, or the default if it is absent.

    Raises:
        Refused: `protocol.body`; the type is not exactly `kind`.
    """
    value = body.get(name, default)
    if type(value) is not kind:
        raise wrong_body(f"{name} is of type {type(value).__name__}, not {kind.__name__}.")
    return value


def records_in(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records of a request; raises `Refused` if they are not a list of maps."""
    records = field(body, "records", list)
    if not all(isinstance(record, dict) for record in records):
        raise wrong_body("A record is no map.")
    return records


def as_shown(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record as modules see it: `id` is the record's id in the data, not the wire's id of its trial."""
    if "record_id" not in record:
        return record
    shown = {**record, "id": record["record_id"]}
    del shown["record_id"]
    return shown


def seconds_in(body: dict[str, Any], name: str, default: float) -> float:
    """Return a time in seconds, or the default if absent; raises `Refused` unless it is a number above 0."""
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise wrong_body(f"{name} is no number above 0.")
    return value
