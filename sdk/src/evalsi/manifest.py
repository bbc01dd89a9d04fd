"""`python -m evalsi.manifest MODULE`: the `[[evaluators]]` tables of a pack's plugin.toml, from its code.

The tables are written, never edited; what stands above the first of them in the file is the author's.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from evalsi.definition import Definition
from evalsi.loading import LoadError, from_module

MARK = "# Written from the code by `python -m evalsi.manifest`; do not edit below this line.\n"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def evaluator_tables(definitions: Iterable[Definition]) -> str:
    """The tables as TOML text, one for each evaluator, in the order given."""
    tables = []
    for definition in definitions:
        lines = [f"{key} = {toml_value(value)}" for key, value in definition.to_dict().items()]
        tables.append("[[evaluators]]\n" + "\n".join(lines) + "\n")
    return MARK + "\n" + "\n".join(tables)


def with_tables(manifest: str, tables: str) -> str:
    """The manifest's text with its evaluator tables replaced, or appended when it has none."""
    return manifest.split(MARK)[0].rstrip() + "\n\n" + tables


def toml_value(value: Any) -> str:
    """A JSON value as an inline TOML value.

    Raises:
        TypeError: TOML has no such value (null); leave the key out instead.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    if isinstance(value, dict):
        # TOML has no null: a default of None is the absence of a default.
        pairs = [f"{_key(key)} = {toml_value(item)}" for key, item in value.items() if item is not None]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    raise TypeError(f"TOML has no value for {value!r}.")


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print, write (`--write FILE`) or check (`--check FILE`) the tables; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m evalsi.manifest", description=__doc__)
    parser.add_argument("module", help="import name of the pack")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", type=Path, metavar="FILE", help="replace the tables of this plugin.toml")
    action.add_argument("--check", type=Path, metavar="FILE", help="exit 1 when this plugin.toml differs from the code")
    options = parser.parse_args(arguments)
    try:
        tables = evaluator_tables(from_module(options.module).values())
    except LoadError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.write:
        options.write.write_text(with_tables(options.write.read_text("utf-8"), tables), "utf-8")
    elif options.check:
        text = options.check.read_text("utf-8")
        if with_tables(text, tables) != text:
            print(f"error: {options.check} differs from the code. Write it again with --write.", file=sys.stderr)
            return 1
    else:
        print(tables, end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
