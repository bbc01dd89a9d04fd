"""Owns what to say where a format needs a library that is installed on demand only."""

from __future__ import annotations

from importlib.util import find_spec

from evalsi_kernel.errors import DatasetError


def require(library: str, what: str, extra: str) -> None:
    """Make sure, without importing it, that a library is there.

    Args:
        library: its import name.
        what: what needs it, in words.
        extra: that of evalsi which brings it.

    Raises:
        DatasetError: `dataset.missing_extra`; it is not.
    """
    if find_spec(library) is None:
        raise DatasetError(
            f"{what} needs {library}, which is not installed.",
            f"Install it: pip install 'evalsi[{extra}]'",
            code="dataset.missing_extra",
        )
