"""What a shell can complete beyond flags: the evaluators of the catalog.

Called only while a shell completes; it must never print or fail.
"""

from __future__ import annotations

from typing import Any


def complete_evaluators(prefix: str, **context: Any) -> list[str]:
    """The evaluators that continue a comma-separated list."""
    from evalsi_kernel.packs.catalog import default_catalog

    before, comma, _ = prefix.rpartition(",")
    return [f"{before}{comma}{info.name}" for info in default_catalog().evaluators()]
