"""Owns where a label stands in a record: found by its name, and taken out, so that no evaluator sees it.

It must not know what a label means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalsi_kernel.records.mapping import MISSING, Path, reach


def label_of(record: Mapping[str, Any], path: Path) -> Any:
    """The label in a record's metadata, or else among its fields; `MISSING` where there is none."""
    found = reach(record.get("metadata", {}), path)
    return reach(record, path) if found is MISSING else found


def without_label(record: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The record as it is without its label; what the label stood in goes too where nothing else is left in it."""
    metadata = record.get("metadata", {})
    if reach(metadata, path) is MISSING:
        return _removed(record, path)
    left = _removed(metadata, path)
    rest = {name: value for name, value in record.items() if name != "metadata"}
    return rest | {"metadata": left} if left else rest


def _removed(holder: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """A copy without what stands at the path, which must be there; a name may have dots itself, as for `reach`."""
    for end in range(len(path), 0, -1):
        name, inner = ".".join(path[:end]), path[end:]
        if name not in holder or reach(holder[name], inner) is MISSING:
            continue
        left = {key: value for key, value in holder.items() if key != name}
        value = holder[name]
        if not inner:
            return left
        if isinstance(value, dict):
            kept: Any = _removed(value, inner)
            return {**holder, name: kept} if kept else left
        return left
    return dict(holder)
