"""`{{input}}` and `{{metadata.key}}` in a text, filled from a record.

It must not know what the text is for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator

from evalsi_kernel.broker.ask import NO_TOKENS
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.checking.toml_tables import Misfit
from evalsi_kernel.records.mapping import FIELDS, MISSING, reach

_BRACES = re.compile(r"\{\{[^{}]*\}\}")
PLACE = re.compile(r"\{\{\s*([A-Za-z_][\w.\-]*)\s*\}\}")


def check_places(template: str) -> str:
    """The template, whose braces all are places that name what a record may have; raises `Misfit`."""
    for found in _BRACES.finditer(template):
        if not PLACE.fullmatch(found[0]):
            raise Misfit(f"has {found[0]}, which is no place", "Write it as {{input}} or {{metadata.key}}.")
    check_names(template)
    return template


def check_names(template: str) -> None:
    """See that places name what a record may have; raises `Misfit`. Other braces may be meant for somebody else."""
    for found in PLACE.finditer(template):
        field = found[1].split(".")[0]
        if field not in FIELDS:
            meant = did_you_mean(field, FIELDS) or f"Write {{{{metadata.{found[1]}}}}} for a column that is not mapped."
            raise Misfit(f"has {found[0]}, and a record has no field {field}", meant)


TemplateText = Annotated[str, AfterValidator(check_places)]


def filled(template: str, record: Mapping[str, Any], shown: Callable[[Any], str] | None = None) -> str:
    """The text with its places filled: text as it is, anything else as JSON.

    Args:
        template: with `{{…}}` where values go; dots reach inside.
        record: as it is sent to evaluators.
        shown: how a value is written; None as above.

    Raises:
        ProviderError: `target.input`; the record lacks what a place names.
    """
    write = shown or as_text

    def value(found: re.Match[str]) -> str:
        return write(value_at(record, found[1]))

    return PLACE.sub(value, template)


def value_at(record: Mapping[str, Any], name: str) -> Any:
    """The value that a place names; raises `ProviderError` where the record has none."""
    content = reach(plain(record), tuple(name.split(".")))
    if content is MISSING:
        raise ProviderError(
            "target.input",
            f"The record has no {name}, which the template names.",
            "Map a column to it, or name another.",
            source="record",
            tokens=NO_TOKENS,
        )
    return content


def plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its contents as their authors wrote them: `{"json": value}` is the value."""
    return {
        name: value["json"] if isinstance(value, dict) and value.keys() == {"json"} else value
        for name, value in record.items()
    }


def as_text(value: Any) -> str:
    """Text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
