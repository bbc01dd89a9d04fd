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
BEGIN, END = "<!-- the table below is written by `just bench` -->\n", "<!-- end of the table -->\n"


def main() -> int:
    """Returns 1 when a budget does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], help=f"of {', '.join(CASES)}; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command (5); short ones run oftener")
    parser.add_argument("--folder", type=Path, default=Path(".evalsi/benchmarks"), help="for data and the peer")
    parser.add_argument("--write", action="store_true", help="put the rows into docs/benchmarks.md")
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
        PAGE.write_text(merged(PAGE.read_text("utf-8"), rows), "utf-8")
    return 0 if all(row.holds for row in rows) else 1


def cells(row: Row) -> list[str]:
    """A row's text."""
    return [row.what, row.ours, row.theirs, row.figure, row.budget, "yes" if row.holds else "**no**"]


def merged(page: str, rows: list[Row]) -> str:
    """The page with these rows in place of its own of the same name, or after them; whatever else it says stays."""
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in old.splitlines() if line.startswith("| ")}
    header = ["what", "ours", "peer or base", "figure", "budget", "holds"]
    told = {name: line for name, line in lines.items() if name not in ("what", "---")}
    told |= {row.what: f"| {' | '.join(cells(row))} |" for row in rows}
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    table = [f"| {' | '.join(header)} |", "|" + " --- |" * len(header), *told.values()]
    note = f"Measured on {machine}. Medians; ratios are medians of pairs run in turn."
    return f"{before}{BEGIN}\n" + "\n".join(table) + f"\n\n{note}\n{END}{after}"


if __name__ == "__main__":
    sys.exit(main())
