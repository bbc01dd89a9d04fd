"""Owns a question from end to end: files into the database, the selection, and the rows.

It must not know how rows are printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import duckdb

from evalsi_kernel.errors import ConfigError

from .answers import Answer
from .database import database, load, opened
from .library import told
from .selection import Selection, parse_labels, select
from .slices import as_answer, slices


def asked(options: argparse.Namespace, files: Sequence[Path]) -> Answer:
    """Load the files and ask.

    Raises:
        UsageError: no run is selected, or a metric or a key is not there.
        ConfigError: a file is no results file, the database cannot be used, or the SQL cannot be run.
    """
    selection = Selection(parse_labels(options.label), options.project, options.run_ids, options.limit)
    with database(options.db) as path:
        load(path, files)
        with opened(path) as connection:
            select(connection, selection)
            if options.action == "slice":
                return as_answer(slices(connection, options.metric, options.by, options.level), options.by)
            return _query(connection, options.sql)


def _query(connection: duckdb.DuckDBPyConnection, sql: str) -> Answer:
    try:
        cursor = connection.execute(sql)
        columns = [str(column[0]) for column in cursor.description or ()]
        return Answer(columns, cursor.fetchall())
    except duckdb.Error as error:
        raise ConfigError(
            f"The SQL cannot be run: {told(error)}.",
            "Ask the tables runs, scores and records; docs/how-to/analyze-many-runs.md lists their columns.",
            code="config.sql",
        ) from error
