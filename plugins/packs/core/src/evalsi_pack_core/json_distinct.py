"""The keyword of JSON Schema that asks for distinct items, in linear time.

Items are equal as JSON has it: 1 is 1.0, true is not 1, the order of keys is free. It must not know records.
jsonschema's own compares each object with each: three thousand take half a minute.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

DISTINCT = "uniqueItems"


def distinct_items(validator: Any, wanted: bool, instance: Any, _schema: Any) -> Iterator[Any]:
    """The keyword, as `jsonschema.validators.extend` takes it."""
    if not wanted or not validator.is_type(instance, "array"):
        return
    if len({_identity(item) for item in instance}) < len(instance):
        from jsonschema.exceptions import ValidationError  # Loaded by those who validate with it.

        yield ValidationError(f"{instance!r} has non-unique elements")


def _identity(value: Any) -> Hashable:
    """What is equal for equal JSON values only."""
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, dict):
        return dict, frozenset((key, _identity(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return list, tuple(map(_identity, value))
    scalar: Hashable = value
    return scalar
