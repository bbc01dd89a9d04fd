"""Parse TOML from untrusted sources: input that would take a parser minutes is rejected first."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MAX_PARTS = 50
"""Maximum number of parts of a dotted key; parsing takes quadratic time (20,000 parts: half a minute)."""
_PART = r"""(?:"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|[\w-]++)[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w\\-])(?:{_PART}\.[ \t]*+){{{MAX_PARTS}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a text; raise `ValueError`, or `RecursionError` for brackets nested too deep."""
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(f"a key has more than {MAX_PARTS} parts (at line {line})")
    return tomllib.loads(text)
