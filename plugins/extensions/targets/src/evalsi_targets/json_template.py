"""`{"message": "{{input}}"}` filled so that it is JSON whatever the record holds.

Within quotes a place takes the value's text, escaped; a bare place takes the value as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field

from evalsi_kernel.checking.toml_tables import Misfit

from .template import PLACE, check_places, in_text, value_at


class _Place(NamedTuple):
    """Where a value goes."""

    name: str
    is_quoted: bool


class JsonTemplate:
    """A template that has been read.

    Args:
        text: JSON with `{{…}}` in it.

    Raises:
        ValueError: it is no JSON, whatever its places are filled with.
    """

    def __init__(self, text: str) -> None:
        self._parts: list[str | _Place] = []
        at, within = 0, False
        for found in PLACE.finditer(text):
            before = text[at : found.start()]
            within = _is_within_quotes(before, within)
            self._parts += [before, _Place(found[1], within)]
            at = found.end()
        self._parts.append(text[at:])
        for sample in ("", 0, [""]):
            json.loads(self._joined(lambda _name, value=sample: value))

    def filled(self, record: Mapping[str, Any]) -> bytes:
        """The JSON for a record; raises `ProviderError` where it lacks what a place names."""
        return self._joined(lambda name: value_at(record, name)).encode()

    def _joined(self, value_of: Any) -> str:
        return "".join(part if isinstance(part, str) else _written(value_of(part.name), part) for part in self._parts)


def _written(value: Any, place: _Place) -> str:
    if place.is_quoted:
        return json.dumps(in_text(value), ensure_ascii=False)[1:-1]
    return json.dumps(value, ensure_ascii=False)


def _is_within_quotes(text: str, within: bool) -> bool:
    """Whether what follows a part of JSON stands in a string, given whether the part began in one."""
    escaped = False
    for character in text:
        if escaped:
            escaped = False
        elif within and character == "\\":
            escaped = True
        elif character == '"':
            within = not within
    return within


def _readable(text: str) -> str:
    check_places(text)
    try:
        JsonTemplate(text)
    except (ValueError, RecursionError) as cause:
        raise Misfit(
            f"is no JSON once its places are filled ({cause})", """Write it as in '{"message": "{{input}}"}'."""
        ) from cause
    return text


JsonTemplateText = Annotated[str, Field(min_length=1, max_length=1_000_000), AfterValidator(_readable)]
