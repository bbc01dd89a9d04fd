"""Owns the command `evalsi promote`: records of a run that a condition holds of, added to a dataset.

It must not know how a condition is read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.errors import ConfigError, UsageError
from evalsi_kernel.extensions.asking import condition_language
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.files.output_check import check_output
from evalsi_kernel.files.whole_file import whole_file

from .named_results import results_named
from .promotion import VARIABLES, promotion
from .redaction import Redaction
from .results import Results

OK = 0
_END = ".jsonl"


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
            with whole_file(path) as file:
                file.write(merged.content)
        if found.open and not options.quiet:
            print(
                f"note: the condition says nothing of {found.open} of {found.answers} answers, which are left out: "
                f"{found.reason}",
                file=sys.stderr,
            )
        print(f"{path}: {_counted(merged.added)} of {found.source} added, {merged.known} there before.")
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
    """

    content: bytes
    added: int
    known: int


def merge(path: Path, rows: Iterable[Mapping[str, Any]], source: str) -> Merged:
    """Add rows behind those that a file holds, none of them twice.

    Args:
        path: of the dataset's file, which may not be there.
        rows: each with an id; where another record has the id, a row's becomes `id@source`.
        source: the run that they come from.

    Raises:
        ConfigError: the file cannot be read, or a line of it is no JSON object.
    """
    try:
        before = path.read_bytes() if path.exists() else b""
        inputs = {str(row["id"]): row.get("input") for row in _rows(before) if "id" in row}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is no dataset that can be added to: {error}.", "Name another one.") from error
    lines, known = [before if before.endswith(b"\n") or not before else before + b"\n"], 0
    for row in rows:
        row_id = row["id"] if inputs.get(row["id"], row.get("input")) == row.get("input") else f"{row['id']}@{source}"
        if row_id in inputs:
            known += 1
        else:
            inputs[row_id] = row.get("input")
            lines.append(json.dumps({**row, "id": row_id}, ensure_ascii=False).encode() + b"\n")
    return Merged(b"".join(lines), len(lines) - 1, known)


def _rows(content: bytes) -> Iterable[Mapping[str, Any]]:
    for number, line in enumerate(content.decode("utf-8-sig").split("\n"), 1):
        if line.strip():
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"line {number} holds no object")
            yield row


def _counted(count: int) -> str:
    return "1 record" if count == 1 else f"{count:,} records"
