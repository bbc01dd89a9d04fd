"""Recognize a reply in which a model declines to answer, without any sign of it but its words."""

from __future__ import annotations

import re
from typing import Final

_MAX_CHARS: Final = 600
_CANNOT: Final = (
    r"(?:can['’]?t|cannot|can not|could not|couldn['’]?t|won['’]?t|will not|unable|not able|decline|refuse|"
    r"rather not|no can do|not comfortable|not willing)"
)
_ANSWER: Final = (
    r"(?:help|assist|comply|provide|grade|evaluate|judge|rate|score|answer|fulfil+|engage|assess|complete|continue|"
    r"process|review|discuss|respond|do (?:that|this|so)|participate|support)"
)
_SORRY: Final = (
    r"(?:i(?:['’]m| am) (?:very |so |really |truly )?(?:sorry|afraid)|i apologi[sz]e|my apologies|apologies|"
    r"sorry|unfortunately|regrettably|as an ai\b[^.,\n]{0,40})"
)
_ENGLISH: Final = re.compile(
    rf"(?i)\A\W*(?:{_SORRY}\W[^\n]{{0,60}}?\b|i\b\W*(?:\w+\W+){{0,3}}?){_CANNOT}\b"
    rf"(?:\W+(?:\w+\W+){{0,3}}?(?<!the )(?<!an )(?<!this ){_ANSWER}\b|\W*\Z)"
)
_SORRY_ELSEWHERE: Final = re.compile(
    r"(?i)\A\W*(?:es tut mir leid|tut mir leid|entschuldigung|lo siento|je suis désolée?|désolée?|mi dispiace|desculpe|"
    r"sinto muito|het spijt me|przepraszam|извините|простите|к сожалению|抱歉|对不起|對不起|申し訳|すみません|죄송)"
)


def is_refusal(text: str) -> bool:
    """Return whether a short text declines to answer; one that merely speaks of declining does not."""
    if len(text) > _MAX_CHARS:
        return False
    bare = re.sub(r"[*_`]", "", text)
    return _ENGLISH.match(bare) is not None or _SORRY_ELSEWHERE.match(bare) is not None
