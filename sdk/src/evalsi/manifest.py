"""`python -m evalsi.manifest MODULE`: generate the `[[evaluators]]` tables of a pack's plugin.toml from its code.

Text above the first generated table belongs to the author and is kept.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from evalsi.definition import Definition
from evalsi.loading import LoadError, from_module

MARK = "# Written from the code by `python -m evalsi.manifest`; do not edit below this line.\n"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class ManifestError(Exception):
    """The manifest cannot be read or written, or differs from the code. The message includes a hint."""


def evaluator_tables(definitions: Iterable[Definition]) -> str:
    """Return the tables as TOML text, one for each evaluator, in the given order.

    Raises:
        TypeError: a value, such as a default, cannot be written in TOML.
    """
    return MARK + "\n" + "\n".join("\n".join(_table_lines(definition)) + "\n" for definition in definitions)


def with_tables(manifest: str, tables: str) -> str:
    """Return the manifest's text with its evaluator tables replaced, or appended if it has none.

    Raises:
        ManifestError: the text above the tables is not TOML, or has evaluator tables itself.
    """
    head = manifest.split(MARK, maxsplit=1)[0].rstrip()
    try:
        above = tomllib.loads(head.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(f"It is not valid TOML: {error}. Correct it there.") from error
    if "evaluators" in above:
        raise ManifestError("It has [[evaluators]] above the generated tables. Delete them.")
    return f"{head}\n\n{tables}".lstrip("\n")


def toml_value(value: Any) -> str:
    """Return a JSON value as an inline TOML value.

    Raises:
        TypeError: TOML cannot represent the value, such as null or a lone surrogate.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, list):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    if isinstance(value, dict):
        pairs = [f"{_key(key)} = {toml_value(item)}" for key, item in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    raise TypeError(f"TOML cannot represent {value!r}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print, write (`--write FILE`) or check (`--check FILE`) the tables. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m evalsi.manifest", description=__doc__)
    parser.add_argument("module", help="import name of the pack")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", type=Path, metavar="FILE", help="replace the tables of this plugin.toml")
    action.add_argument("--check", type=Path, metavar="FILE", help="exit 1 when this plugin.toml differs from the code")
    options = parser.parse_args(arguments)
    try:
        tables = evaluator_tables(from_module(options.module).values())
        if options.write:
            _write(options.write, tables)
        elif options.check:
            _check(options.check, tables, options.module)
        else:
            print(tables, end="")
    except (LoadError, ManifestError, TypeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _write(path: Path, tables: str) -> None:
    try:
        path.write_text(with_tables(_read(path), tables), "utf-8", newline="\n")
    except (OSError, ManifestError) as error:
        raise ManifestError(f"{path}: {_reason(error)}") from error


def _check(path: Path, tables: str, module: str) -> None:
    try:
        text = _read(path)
        agrees = with_tables(text, tables) == text
    except (OSError, ManifestError) as error:
        raise ManifestError(f"{path}: {_reason(error)}") from error
    if not agrees:
        differing = ", ".join(_differing(text, tables)) or "formatting only"
        hint = f"Update it: python -m evalsi.manifest {module} --write {path}"
        raise ManifestError(f"{path} differs from the code ({differing}). {hint}")


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ManifestError("It is not UTF-8. Save it as UTF-8.") from error


def _reason(error: OSError | ManifestError) -> str:
    return f"{error.strerror}. Check the path." if isinstance(error, OSError) else str(error)


def _differing(text: str, tables: str) -> list[str]:
    """Return the names of the evaluators whose tables differ or exist on one side only."""
    try:
        written = tomllib.loads(text.removeprefix("\ufeff")).get("evaluators", [])
    except tomllib.TOMLDecodeError:
        return ["not valid TOML"]
    before = {str(table.get("name")): table for table in written}
    after = {table["name"]: table for table in tomllib.loads(tables).get("evaluators", [])}
    return [name for name in {**before, **after} if before.get(name) != after.get(name)]


def _table_lines(definition: Definition) -> Iterator[str]:
    """Yield the lines of one evaluator, with one line for each param to keep diffs small."""
    table = definition.to_dict()
    params = table.pop("params")
    properties = params["properties"]
    yield "[[evaluators]]"
    yield from _pairs(table)
    yield ""
    yield "[evaluators.params]"
    yield from _pairs({key: value for key, value in params.items() if key != "properties"})
    if not properties:
        yield "properties = {}"
        return
    yield ""
    yield "[evaluators.params.properties]"
    yield from _pairs(properties)


def _pairs(table: dict[str, Any]) -> Iterator[str]:
    return (f"{_key(key)} = {toml_value(value)}" for key, value in table.items())


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TypeError(f"TOML cannot represent {text!r}, which has a lone surrogate.") from error
    # JSON's escapes are valid in TOML. Only DEL must be escaped in TOML and is not in JSON.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


if __name__ == "__main__":
    raise SystemExit(main())
