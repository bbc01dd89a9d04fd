"""Owns the command `evalsi promote`: records of a run that a condition holds of, added to a dataset.

It must not know how a condition is read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.errors import ConfigError, UsageError
from evalsi_kernel.extensions.hook_calls import condition_language
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.files.atomic_file import atomic_file
from evalsi_kernel.files.output_check import check_output
from evalsi_kernel.records.mapping import FIELDS
from evalsi_kernel.results.grid import printable

from .named_results import results_named
from .promotion import VARIABLES, promotion
from .redaction import Redaction
from .results import Results

OK = 0
_END = ".jsonl"
_SHOWN = 5


class Promote:
    """The command."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags."""
        add = parser.add_argument
        add("results", type=results_named, metavar="RUN", help="a run here by its id, or a results file")
        add("--dataset", required=True, metavar="NAME", help="add them to NAME.jsonl, which is made where it is not")
        add(
            "--when",
            required=True,
            metavar="CEL",
            help="which: CEL over scores, errored, trial and record, such as 'scores[\"exact-match\"] < 1'",
        )
        add("--include-outputs", action="store_true", help="keep what was answered, too")
        add("--quiet", action="store_true", help="no line about records of which the condition says nothing")

    def run(self, options: argparse.Namespace) -> int:
        """Choose, merge, write."""
        path = dataset_file(options.dataset)
        check_output(path)
        condition = condition_language(default_extensions()).compile(options.when, VARIABLES)
        found = promotion(Results(options.results, Redaction()), condition, includes_outputs=options.include_outputs)
        merged = merge(path, found.rows, found.source)
        if merged.added:
            with atomic_file(path) as file:
                file.write(merged.content)
        if merged.others and not options.quiet:
            note = (
                f"note: nothing in {path} had a reference before, but {merged.others}: where a spec maps a column to "
                "reference, what was added has none"
            )
            print(printable(note), file=sys.stderr)
        if found.open and not options.quiet:
            note = (
                f"note: the condition says nothing of {found.open} of {found.answers} answers, which are left out: "
                f"{found.reason}"
            )
            print(printable(note), file=sys.stderr)
        told = f"{path}: {_counted(merged.added)} of {found.source} added, {merged.known} there before."
        print(printable(told))
        return OK


def dataset_file(name: str) -> Path:
    """The file of a dataset, by its name or its path; raises `UsageError`."""
    if not Path(name).name:
        raise UsageError(f"--dataset is {name!r}.", "Name it, such as regressions.")
    return Path(name if name.endswith(_END) else f"{name}{_END}")


class Merged(NamedTuple):
    """A dataset with rows added.

    Args:
        content: of its file.
        added: how many rows are new.
        known: how many were in it before.
        others: columns that may hold what is the reference of the new rows, which no row had before; "" for none.
    """

    content: bytes
    added: int
    known: int
    others: str


def merge(path: Path, rows: Iterable[Mapping[str, Any]], source: str) -> Merged:
    """Add rows behind those that a file holds, none of them twice.

    Args:
        path: of the dataset's file, which may not be there.
        rows: each with an id; where another record has the id, a row's becomes `id@source`.
        source: the run that they come from.

    Raises:
        ConfigError: the file cannot be read, a line of it is no JSON object, or it holds inputs under another name.
    """
    try:
        before = path.read_bytes() if path.exists() else b""
        there = list(_rows(before))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is no dataset that can be added to: {error}.", "Name another one.") from error
    inputs = {str(row["id"]): row.get("input") for row in there if "id" in row}
    added: list[Mapping[str, Any]] = []
    lines, known = [before if before.endswith(b"\n") or not before else before + b"\n"], 0
    for row in rows:
        row_id = row["id"] if inputs.get(row["id"], row.get("input")) == row.get("input") else f"{row['id']}@{source}"
        if row_id in inputs:
            known += 1
        else:
            inputs[row_id] = row.get("input")
            added.append(row)
            lines.append(json.dumps({**row, "id": row_id}, ensure_ascii=False).encode() + b"\n")
    if others := _in_place_of("input", there, added):
        raise ConfigError(
            f"{path} holds {others} in place of input, and a run could not read both: a record that is added has the "
            "fields of a record.",
            f"Name another dataset, or rename the columns of this one to {', '.join(FIELDS[:4])} first.",
        )
    return Merged(b"".join(lines), len(added), known, _in_place_of("reference", there, added))


def _in_place_of(field: str, there: Iterable[Mapping[str, Any]], added: Sequence[Mapping[str, Any]]) -> str:
    """The columns that may hold this field of new rows where no row there has it; "" where none is in question."""
    if not any(field in row for row in added) or any(row.get(field) is not None for row in there):
        return ""
    *before, last = list(dict.fromkeys(name for row in there for name in row if name not in FIELDS))[:_SHOWN] or [""]
    return f"{', '.join(before)} and {last}" if before else last


def _rows(content: bytes) -> Iterable[Mapping[str, Any]]:
    for number, line in enumerate(content.decode("utf-8-sig").split("\n"), 1):
        if line.strip():
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"line {number} holds no object")
            yield row


def _counted(count: int) -> str:
    return "1 record" if count == 1 else f"{count:,} records"
