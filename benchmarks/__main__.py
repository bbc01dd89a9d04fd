"""`python -m benchmarks`: run the cases, print the table, and write it to docs/benchmarks.md."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.rows import Bench, Row

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
MARK = "<!-- the table below is written by `just bench` -->\n"


def main() -> int:
    """Returns 1 when a budget does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], help=f"of {', '.join(CASES)}; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command (5); short ones run oftener")
    parser.add_argument("--folder", type=Path, default=Path(".evalsi/benchmarks"), help="for data and the peer")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    # Both sides run from compiled code, as an installed program does.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    bench = Bench(options.folder.resolve(), options.rounds)
    rows = []
    for name in options.cases or CASES:
        for row in CASES[name](bench):
            print(" | ".join(cells(row)), flush=True)
            rows.append(row)
    if options.write:
        PAGE.write_text(PAGE.read_text("utf-8").split(MARK)[0] + MARK + "\n" + table(rows), "utf-8")
    return 0 if all(row.holds for row in rows) else 1


def cells(row: Row) -> list[str]:
    """A row's text."""
    return [row.what, row.ours, row.theirs, row.figure, row.budget, "yes" if row.holds else "**no**"]


def table(rows: list[Row]) -> str:
    """The rows as Markdown, with the machine they come from."""
    header = ["what", "ours", "peer or base", "figure", "budget", "holds"]
    lines = [f"| {' | '.join(header)} |", "|" + " --- |" * len(header)]
    lines += [f"| {' | '.join(cells(row))} |" for row in rows]
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return "\n".join(lines) + f"\n\nMeasured on {machine}. Medians; ratios are medians of pairs run in turn.\n"


if __name__ == "__main__":
    sys.exit(main())
