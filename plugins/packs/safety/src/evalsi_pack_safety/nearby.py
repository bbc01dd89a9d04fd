"""What stands just before a number and says what it is: "tel.", "order no.", "version", in several languages.

Words are given in lower case; a word counts when nothing but a few marks stand between it and the number. It must not
know the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

_LOOKED_AT = 40
# Between the words of a label in camel case.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Nearby:
    """Words that may stand before a number.

    Args:
        words: in lower case; a final "*" lets the word go on.
        gap: how many characters that are no digits may stand between word and number.
    """

    def __init__(self, words: Iterable[str], gap: int = 12) -> None:
        self._words = tuple(words)
        self._gap = gap

    def said(self, text: str, start: int, label: str = "") -> bool:
        """Whether such a word stands before `start`, or is the label that the text stands under."""
        return self.distance(text, start, label) is not None

    def distance(self, text: str, start: int, label: str = "") -> int | None:
        """How far before `start` such a word ends, a label farther than any word; None where there is none."""
        before = text[max(0, start - _LOOKED_AT) : start].casefold()
        match = self._before.search(before)
        if match is not None:
            return len(before) - match.end(1)
        if label and self._before.search(_HUMP.sub("_", label).casefold()):
            return _LOOKED_AT + 1
        return None

    # Compiled when it is first asked: together the lists would take a third of the pack's start.
    @cached_property
    def _before(self) -> re.Pattern[str]:
        listed = sorted(self._words, key=len, reverse=True)
        alternatives = "|".join(
            re.escape(word.rstrip("*")) + (r"\w{0,8}" if word[-1] == "*" else "") for word in listed
        )
        # A word of a script without blanks has no boundary before it, and a label of code none within it.
        return re.compile(rf"(?:(?<![a-zà-ÿа-я])|(?<=[_-]))({alternatives})(?![a-zà-ÿа-я])[^\d\n]{{0,{self._gap}}}\Z")
