"""Results without how long each evaluation took, which no two evaluations of the same records share.

It must not know where results come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def untimed(results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The results, to be compared with those of another evaluation."""
    return [{key: value for key, value in one.items() if key != "duration_ms"} for one in results]
