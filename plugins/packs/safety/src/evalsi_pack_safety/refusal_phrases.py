"""The phrases of refusal_phrases.toml, compiled when they are first needed, a language at a time."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class Phrases(NamedTuple):
    """Phrases that decline.

    Args:
        plain: decline the request itself, whatever comes after.
        hedged: decline a thing, and may be followed by help all the same.
    """

    plain: list[re.Pattern[str]]
    hedged: list[re.Pattern[str]]


def phrases_for(text: str) -> Phrases:
    """The phrases of the languages that a text may be in."""
    phrases = Phrases([], [])
    for language, entry in _file()["languages"].items():
        if any(hint in text for hint in entry["hints"]):
            compiled = _compiled(language)
            phrases.plain.extend(compiled.plain)
            phrases.hedged.extend(compiled.hedged)
    return phrases


def languages() -> list[str]:
    """The languages that there are phrases of, by their codes."""
    return list(_file()["languages"])


@cache
def words(name: str, form: str) -> re.Pattern[str]:
    """A list of words of the file as one pattern.

    Args:
        name: of the list.
        form: the pattern around it, in which <words> stands for the alternatives.
    """
    return re.compile(form.replace("<words>", f"(?:{'|'.join(_file()['words'][name])})"))


@cache
def _compiled(language: str) -> Phrases:
    entry = _file()["languages"][language]
    return Phrases(list(map(_pattern, entry["plain"])), list(map(_pattern, entry.get("hedged", ()))))


def _pattern(phrase: str) -> re.Pattern[str]:
    for name, part in _file()["parts"].items():
        phrase = phrase.replace(f"<{name}>", part)
    return re.compile(phrase)


@cache
def _file() -> dict[str, Any]:
    import tomllib  # 10 ms that only those who look for refusals need pay.

    return tomllib.loads((Path(__file__).parent / "refusal_phrases.toml").read_text("utf-8"))
