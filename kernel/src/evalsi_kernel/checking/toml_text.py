"""TOML of strangers: what would take a parser minutes is refused before it is parsed.

It must not know any format.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

MAX_PARTS = 50
"""Of a key. A parser looks each part up below all those before it: 20,000 take it half a minute."""
_PART = r"""(?:"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|[\w-]++)[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w\\-])(?:{_PART}\.[ \t]*+){{{MAX_PARTS}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a text; raises `ValueError`, and `RecursionError` where brackets are nested too deep."""
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(f"a key has more than {MAX_PARTS} parts (at line {line})")
    return tomllib.loads(text)
