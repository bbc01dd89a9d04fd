"""What a results file says of the whole run.

It must not know where it was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Head(NamedTuple):
    """What a results file says of the whole run.

    Args:
        manifest: what ran.
        summaries: one a metric.
        verdict: of the gates; None without gates.
        gates, slices: of a run; empty for an evaluation.
    """

    manifest: Mapping[str, Any]
    summaries: tuple[Mapping[str, Any], ...]
    verdict: str | None
    gates: tuple[Mapping[str, Any], ...]
    slices: tuple[Mapping[str, Any], ...]
