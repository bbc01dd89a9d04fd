"""Whether a text is JSON by RFC 8259's grammar, however deep it is nested and however long its numbers are.

It reads no value; it must not know records.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""[ \t\n\r]*+(?:
        (?P<mark>[\[\]{},:])
        | (?P<string>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+")
        | (?P<scalar>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)
    )""",
    re.VERBOSE,
)
_BLANK = re.compile(r"[ \t\n\r]*+\Z")


def first_fault(text: str) -> str | None:
    """Where the text stops being JSON, as a phrase; None where it is JSON."""
    open_ones: list[str] = []
    wanted = "value"
    position = 0
    while wanted != "end":
        found = _TOKEN.match(text, position)
        step = found and _step(found["mark"] or ("string" if found["string"] else "scalar"), wanted, open_ones)
        if not found or step is None:
            return f"not JSON: it stops being it after character {position}"
        wanted, position = step, found.end()
    return None if _BLANK.match(text, position) else f"not JSON: it goes on after character {position}"


def _step(token: str, wanted: str, open_ones: list[str]) -> str | None:
    """What is wanted after the token; None where the token is not."""
    if token in ("]", "}"):
        # [] and {} as well, but no comma before the end.
        if wanted not in ("more", f"value or {token}", f"key or {token}") or open_ones[-1] != token:
            return None
        open_ones.pop()
    elif token == ":":
        return "value" if wanted == "colon" else None
    elif token == ",":
        return ("value" if open_ones[-1] == "]" else "key") if wanted == "more" else None
    elif wanted.startswith("key"):
        return "colon" if token == "string" else None
    elif not wanted.startswith("value"):
        return None
    elif token in ("[", "{"):
        open_ones.append("]" if token == "[" else "}")
        return "value or ]" if token == "[" else "key or }"
    return "more" if open_ones else "end"
