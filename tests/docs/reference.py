"""Writes the pages of docs/reference that the code gives; `--write` does, `--check` fails when one is stale.

Knows which pages there are; what stands on one is known by the module that makes it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.docs import cli_page, evaluators_page, manifest_page, python_page, spec_page

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page.page,
    "evaluators.md": evaluators_page.page,
    "plugin-toml.md": manifest_page.page,
    "python.md": python_page.page,
    "run-spec.md": spec_page.page,
    "run.schema.json": spec_page.schema_file,
}
COMMAND = "python -m tests.docs.reference --write"


def stale(folder: Path = FOLDER) -> list[str]:
    """The pages that are missing, or not what the code gives."""
    return [
        name
        for name, make in PAGES.items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != make()
    ]


def write(folder: Path = FOLDER) -> None:
    """Write every page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (folder / name).write_text(make(), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check; returns 1 when a page is stale."""
    parser = argparse.ArgumentParser(description="The reference pages that are written from the code.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the pages")
    what.add_argument("--check", action="store_true", help="fail when a page is stale")
    if parser.parse_args(arguments).write:
        write()
    for name in (found := stale()):
        print(f"docs/reference/{name} is not what the code gives. Run: {COMMAND}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
