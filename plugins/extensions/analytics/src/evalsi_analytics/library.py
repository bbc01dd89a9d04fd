"""Owns the import of DuckDB, which an extra brings, and the words of its errors.

It must not know a table.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from evalsi_kernel.errors import EvalsiError

if TYPE_CHECKING:
    import duckdb


class MissingLibrary(EvalsiError):
    """A library that an extra brings is not installed."""

    code = "environment.missing_extra"
    source = "environment"


def require_duckdb() -> None:
    """Make sure, without importing it, that DuckDB is there; raises `MissingLibrary`."""
    if find_spec("duckdb") is None:
        raise MissingLibrary(
            "`evalsi analyze` needs DuckDB, which is not installed.", "Install it: pip install 'evalsi[analytics]'"
        )


def told(error: duckdb.Error) -> str:
    """What DuckDB says, without its picture of the query, and without a full stop."""
    text = str(error).partition("\n\nLINE ")[0].partition("\nLINE ")[0]
    return " ".join(text.split()).rstrip(".")
