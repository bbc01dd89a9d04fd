"""Reads JSON from strangers, and plain values out of it.

It must not know any API.
"""

from __future__ import annotations

import json
from typing import Any


def read_json(content: bytes) -> tuple[Any, str]:
    """The value, and "" or why there is none."""
    try:
        return json.loads(content), ""
    except RecursionError:
        return None, "it is nested too deep"
    except UnicodeDecodeError:
        return None, "it is not UTF-8"
    except ValueError as cause:
        return None, str(cause)


def count_or_none(value: object) -> int | None:
    """A number of tokens, or None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_or_empty(value: object) -> str:
    """A text that can be written, or "" for what is none, such as the name of a model that is not told."""
    return value if isinstance(value, str) and is_encodable(value) else ""


def is_encodable(text: str) -> bool:
    """Whether a text can be written as UTF-8: it holds no half of a surrogate pair."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_page(content: bytes) -> bool:
    """Return whether a body is HTML or other markup, as a web server or a proxy answers where there is no API."""
    return content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
