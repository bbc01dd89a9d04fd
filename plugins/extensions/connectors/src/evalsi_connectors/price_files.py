"""A file of prices: TOML with dollars per million tokens by model, and what is wrong in it, with its line.

It must not know whose file it is, nor which models there are. It does without pydantic, so that a run with a judge
starts quickly.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalsi_kernel.broker.prices import Price, PriceFile
from evalsi_kernel.checking.problems import Problem, describe_problems
from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.checking.value_schema import shown
from evalsi_kernel.errors import ConfigError

_KEYS = ("version", "as_of", "models")
_EXAMPLE = '[models."openai/gpt-5"]'
_PARTS = ("input", "output", "cache_read", "cache_write")
_TOKENS, _ABOVE = "tokens", "above"
_NEEDED = ("input", "output")


def read_prices(path: Path) -> PriceFile:
    """Read and check a file; a price of the provider's cache that is not given is that of the prompt.

    Raises:
        ConfigError: it cannot be read, or something in it does not fit; the message names each line.
    """
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
        tables = tomllib.loads(text)
    except OSError as cause:
        raise ConfigError(
            f"The prices {path} cannot be read: {cause.strerror or cause}.",
            "Check the path of the file of prices (--judge-prices, or --prices of a run).",
        ) from cause
    except UnicodeDecodeError as cause:
        line = cause.object.count(b"\n", 0, cause.start) + 1
        raise ConfigError(f"The prices {path} are not UTF-8 (line {line}).", "Save the file as UTF-8.") from cause
    except (tomllib.TOMLDecodeError, RecursionError) as cause:
        raise ConfigError(f"The prices {path} are not TOML: {cause}.", "Fix the syntax there.") from cause
    problems = list(_problems(tables, text.splitlines()))
    if problems:
        raise ConfigError(*describe_problems(f"The prices {path}", problems))
    version = tables.get("version") or f"{path.name} {hashlib.sha256(content).hexdigest()[:12]}"
    as_of = tables.get("as_of")
    prices = {name: _price(table) for name, table in tables["models"].items()}
    return PriceFile(prices, version, None if as_of is None else str(as_of))


def _price(table: Mapping[str, Any]) -> Price:
    whole = float(table["input"])
    return Price(
        whole,
        float(table["output"]),
        float(table.get("cache_read", whole)),
        float(table.get("cache_write", whole)),
        tuple((tier[_TOKENS], _price(tier)) for tier in table.get(_ABOVE, ())),
    )


def _problems(tables: Mapping[str, Any], lines: list[str]) -> Iterator[Problem]:
    for key, value in tables.items():
        at = f"line {_line(lines, key)}: {key}"
        if key not in _KEYS:
            yield Problem(at, "is not a known key", choose(key, _KEYS))
        elif key == "version" and not (isinstance(value, str) and value.strip()):
            yield Problem(at, f"must be text, not {shown(value)}", 'Write it such as version = "2026-11".')
        elif key == "as_of" and not _is_day(value):
            yield Problem(at, f"must be a day, not {shown(value)}", "Write it such as as_of = 2026-11-03.")
    models = tables.get("models")
    if not isinstance(models, dict) or not models:
        yield Problem("", "names no model", f"Write for each one {_EXAMPLE}, and under it input = … and output = ….")
        return
    for name, table in models.items():
        yield from _model_problems(name, table, lines)


def _model_problems(name: str, table: Any, lines: list[str]) -> Iterator[Problem]:
    line = _line(lines, name)
    at = f'line {line}: models."{name}"'
    if not name.strip("*") and name != "*":
        yield Problem(at, "is no name of a model", "Write the provider's name of it.")
    elif "*" in name[:-1]:
        yield Problem(at, "has a * before its end", "Put a * at the end only, where it stands for every end.")
    if not isinstance(table, dict):
        yield Problem(at, f"must be a table, not {shown(table)}", f"Write {_EXAMPLE}, and its prices under it.")
        return
    if any(isinstance(value, dict) for value in table.values()):
        yield Problem(at, "holds another table", f"Put the whole name in quotes, such as {_EXAMPLE}.")
        return
    tiers = table.get(_ABOVE, [])
    yield from _part_problems(table, f'models."{name}"', _ABOVE, lines, line)
    if not isinstance(tiers, list) or not all(isinstance(tier, dict) for tier in tiers):
        hint = f'Write [[models."{name}".{_ABOVE}]], and its prices under it.'
        yield Problem(f"{at}.{_ABOVE}", f"must be tables, not {shown(tiers)}", hint)
        return
    least = 0
    for number, tier in enumerate(tiers):
        line = _line(lines, _ABOVE, line + 1)
        place = f'models."{name}".{_ABOVE}[{number}]'
        yield from _part_problems(tier, place, _TOKENS, lines, line)
        tokens = tier.get(_TOKENS)
        if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens <= least:
            what = "has no tokens" if tokens is None else f"must have tokens above {least}, not {shown(tokens)}"
            hint = f"Say above how many tokens of the prompt it holds, the smallest number first: {_TOKENS} = 200_000."
            yield Problem(f"line {line}: {place}", what, hint)
        else:
            least = tokens


def _part_problems(table: Mapping[str, Any], at: str, also: str, lines: list[str], line: int) -> Iterator[Problem]:
    """What is wrong with the prices of a table that begins on a line and may hold one key besides."""
    for part, value in table.items():
        at_part = f"line {_line(lines, part, line)}: {at}.{part}"
        if part not in (*_PARTS, also):
            yield Problem(at_part, "is not a known key", choose(part, (*_PARTS, also)))
        elif part != also and not _is_price(value):
            yield Problem(at_part, f"must be USD per million tokens, zero or more, not {shown(value)}")
    for part in _NEEDED:
        if part not in table:
            yield Problem(f"line {line}: {at}", f"has no {part}", f"Add {part} = and its USD per million tokens.")


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _is_day(value: Any) -> bool:
    if isinstance(value, str):
        try:
            datetime.date.fromisoformat(value)
        except ValueError:
            return False
        return True
    return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)


def _line(lines: list[str], key: str, after: int = 1) -> int:
    """The line, from 1, on which a key stands first from a line on; that line itself where it is not found."""
    stands = re.compile(rf"""(?<![\w\-/*]){re.escape(key)}(?![\w.\-/*])""")
    for number in range(after, len(lines) + 1):
        if stands.search(lines[number - 1].partition("#")[0]):
            return number
    return after
