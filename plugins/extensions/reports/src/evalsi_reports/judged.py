"""Owns asking `evalsi compare` what it says of two files, so that a report judges no difference by itself.

It must not know a test, nor how a difference is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.extensions.hook_calls import command
from evalsi_kernel.extensions.installed import default_extensions

_NAME = "compare"


@runtime_checkable
class Compares(Protocol):
    """What the command `compare` can do besides."""

    def differences(self, base: Path, candidate: Path) -> Mapping[str, Any]:
        """What it says of each metric, as JSON values; raises `ConfigError` where there is nothing to say."""


Comparer = Callable[[Path, Path], Mapping[str, Any]]
"""Says what is different between a base and a candidate."""


class Judged(NamedTuple):
    """What is said of two files.

    Args:
        metrics: by name, as in the JSON of a comparison, with `lost_ids` and `won_ids`.
        cluster_by: the key by which records were clustered; None where they count one by one.
        errors: what a headline says of them, without a full stop; "" where their difference may be chance.
        note: why nothing is said; "" where something is.
    """

    metrics: Mapping[str, Mapping[str, Any]]
    cluster_by: str | None = None
    errors: str = ""
    note: str = ""


def comparer(toolkit: Toolkit) -> Comparer | None:
    """What compares two files here; None where no extension does."""
    extensions = default_extensions()
    if extensions.provider("commands", _NAME) is None:
        return None
    found = command(_NAME, toolkit, extensions)
    return found.differences if isinstance(found, Compares) else None


def judged(base: Path, candidate: Path, compare: Comparer | None) -> Judged:
    """What is said of the differences between two files."""
    if compare is None:
        return Judged({}, note="No difference is judged here: evalsi-comparison, which does it, is not installed.")
    try:
        told = compare(base, candidate)
    except ConfigError as error:
        return Judged({}, note=f"No difference is judged: {error.message}")
    return Judged({one["metric"]: one for one in told["metrics"]}, told["cluster_by"], told["errors"]["told"])
