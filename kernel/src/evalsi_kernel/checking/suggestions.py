"""The "did you mean" suggestion of errors about unknown names."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST_WORD = 100


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `Did you mean "x"?` for the known name nearest to `word`; "" where none is near."""
    nearest = _nearest(word, list(known))
    return f'Did you mean "{nearest}"?' if nearest is not None else ""


def choose(word: str, known: Iterable[str]) -> str:
    """Return the hint for an unknown name among few known ones: `Did you mean "x"? Use: x, y.`"""
    names = list(known)
    return f"{did_you_mean(word, names)} Use: {', '.join(names) or 'none'}.".strip()


def _nearest(word: str, known: list[str]) -> str | None:
    # A name may be known but unavailable here, such as a key that one record lacks.
    known = [name for name in known if name != word]
    plain = _plain(word)
    for name in known:
        if _plain(name) == plain:
            return name
    if len(word) > _LONGEST_WORD:
        return None
    # Rarely needed.
    from difflib import get_close_matches

    by_plain = {_plain(name): name for name in reversed(known)}
    close = get_close_matches(plain, by_plain, n=1)
    return by_plain[close[0]] if close else None


def _plain(word: str) -> str:
    return word.casefold().replace("_", "-")
