"""An evaluator of plain words. ~/.config/acme/words.txt lists additional words that count as plain."""

from __future__ import annotations

import re
from pathlib import Path

from evalsi import Output, Record, Skip, evaluator

LONG = 8
OWN_WORDS = Path("~/.config/acme/words.txt")


def _own_words() -> frozenset[str]:
    try:
        return frozenset(OWN_WORDS.expanduser().read_text("utf-8").lower().split())
    except FileNotFoundError:
        return frozenset()


@evaluator(
    name="plain-words",
    version="1",
    needs=["output"],
    outputs=[Output(minimum=0, maximum=1, higher_is_better=True)],
)
def plain_words(record: Record) -> float:
    """Share of the words that are short, or plain by your own list."""
    words = re.findall(r"[^\W\d_]+", record.output_text.lower())
    if not words:
        raise Skip("the output has no word")
    own = _own_words()
    return sum(len(word) < LONG or word in own for word in words) / len(words)
