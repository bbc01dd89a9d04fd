"""Shell completion of evaluator names. It must never print or fail."""

from __future__ import annotations

from typing import Any


def complete_evaluators(prefix: str, **context: Any) -> list[str]:
    """Return completions of a comma-separated list of evaluators."""
    from evalsi_kernel.packs.catalog import default_catalog

    before, comma, _ = prefix.rpartition(",")
    return [f"{before}{comma}{info.name}" for info in default_catalog().evaluators()]
