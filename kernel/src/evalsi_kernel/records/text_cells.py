"""Cells of formats that know text alone (CSV, TSV): which of them are read as JSON.

A list of texts is read for `reference` and `context`, an object or a list for the fields that are never text. Every
other cell stays text, as json-equal and json-valid need it.
"""

from __future__ import annotations

import json
from typing import Any

LISTS = frozenset({"reference", "context"})
STRUCTURES = frozenset({"trajectory", "usage", "metadata", "provenance", "check"})
TEXTS = frozenset({"input", "output"})


def read_cell(field: str, cell: Any) -> tuple[Any, bool]:
    """Return the value of a field from its cell, and whether a JSON list stays text."""
    if not isinstance(cell, str) or cell.lstrip()[:1] not in ("[", "{"):
        return cell, False
    if field not in LISTS | STRUCTURES | TEXTS:
        return cell, False
    try:
        value = json.loads(cell, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return cell, False
    if field in STRUCTURES:
        return value, False
    if not isinstance(value, list):
        return cell, False
    if field in LISTS and value and all(isinstance(one, str) for one in value):
        return value, False
    if field == "context" and not value:
        return value, False
    return cell, True


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
