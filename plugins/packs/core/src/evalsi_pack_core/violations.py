"""What is wrong with an output, as an explanation tells it: the first few phrases, each short, all fit to travel.

It must not know where the phrases come from.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

MAX_SHOWN = 5
MAX_PHRASE = 200
MAX_VALUE = 60


def first_few(phrases: Sequence[str]) -> str | None:
    """The first phrases and how many more there are; None where there is none."""
    if not phrases:
        return None
    shown = "; ".join(travelling(shortened(phrase, MAX_PHRASE)) for phrase in phrases[:MAX_SHOWN])
    return f"{shown}; and {len(phrases) - MAX_SHOWN} more" if len(phrases) > MAX_SHOWN else shown


def shown_value(value: Any) -> str:
    """A JSON value as text, cut where it is long."""
    return travelling(shortened(_json_text(value), MAX_VALUE))


def shortened(text: str, most: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def travelling(text: str) -> str:
    """The text with half of a surrogate pair, which JSON can escape and UTF-8 cannot hold, written as its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _json_text(value: Any) -> str:
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, list):
        return f"[… {len(value)} items]" if value else "[]"
    try:
        return json.dumps(value, ensure_ascii=False)
    except ValueError:
        return "an integer of too many digits to show"
