"""Detect verdicts that the prose around a JSON object states in words, such as "My grade is 1".

A judge may quote an object that the text under test asked for, and state its own grade in a sentence; the object then
does not count. Sentences are recognized in English, numbers after the object in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from evalsi_kernel.broker.plain_verdict import NUMBER_NAMES, Property, folded, properties_of

_NUMBER_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER: Final = rf"-?\d{{1,30}}(?:\.\d{{1,30}})?|{'|'.join(_NUMBER_WORDS)}"
_TRUTHS: Final = {"true": True, "yes": True, "false": False, "no": False}
_MARKS: Final = re.compile(r"[*_`\"“”„«»]")
_IS: Final = (
    r"\s*(?:[:=：]|\b(?:is|was|are|equals|remains|stays|becomes|as|of|(?:would|should|will|must|can only)\s+be)\b)\s*:?"
)
_FILLERS: Final = (
    r"\s*(?:(?:a|an|the|only|just|therefore|thus|still|actually|instead|at|about|clearly|not|grade|score)\s+){0,3}"
)
_OWN: Final = r"(?:\b(?:my|our|final|overall|actual|real|own)\s+(?:\w+\s+){0,2}?)"
_POINTER: Final = re.compile(
    r"(?i)(?:as follows|below|above|given|based|this|that|the following|in (?:the )?json|here|json|:|\Z|[{\[(])"
)
_GIVES: Final = r"\bI(?:\s*['’](?:d|ll|ve)|\s+(?:would|will|must|can|have to))?\s+(?:\w+\s+){0,2}?"
_GIVE: Final = r"(?:gave|give|rate|rated|grade|graded|score|scored|award|awarded|assign|assigned|mark|marked)\b"
_OF: Final = re.compile(
    r"(?i)(?<![\d.])(?P<value>\d{1,30}(?:\.\d{1,30})?)\s*(?:/|out of|of a possible)\s*(?P<most>\d{1,30})\b"
)
_BARE: Final = re.compile(r"(?<![\w.,\-])-?\d{1,30}(?:\.\d{1,30})?(?![\w%]|[.,]\d)")
_ITEM: Final = re.compile(r"(?m)^[ \t]*\d{1,3}[.)](?=[ \t])")


def contradicts(
    value: Mapping[str, Any], before: str, after: str, schema: Mapping[str, Any], shown: Sequence[str]
) -> bool:
    """Return whether the prose around an object states a different verdict.

    Args:
        value: the object.
        before: the prose before it.
        after: the prose after it.
        schema: schema of the answer.
        shown: `folded` texts that the judge was shown. A sentence that occurs in them counts only where the judge
            speaks of its own grade.
    """
    for one in properties_of(schema):
        given = value.get(one.name)
        if one.holds == "text" or given is None:
            continue
        for prose in (before, after):
            for stated in _stated(_MARKS.sub("", prose), one, schema, shown):
                if not _is_same(stated, given):
                    return True
        if one.holds == "number" and any(not _is_same(other, given) for other in _numbers_behind(after, one)):
            return True
    return False


def _stated(prose: str, one: Property, schema: Mapping[str, Any], shown: Sequence[str]) -> Iterator[Any]:
    """Yield the values that sentences give a property; None for an invalid value."""
    names = "|".join(sorted(map(re.escape, _names(one, schema)), key=len, reverse=True))
    found = _value_pattern(one)
    for match in re.finditer(rf"(?i){_OWN}(?:{names})\b(?:[^\S\n]+\w+){{0,5}}?{_IS}(?P<rest>[^\n]{{0,80}})", prose):
        rest = match["rest"].strip()
        read = re.match(rf"(?i){_FILLERS}(?P<value>{found})(?!\w)", rest)
        if read is not None:
            yield _read(read["value"], one)
        elif not _POINTER.match(rest):
            yield None
    for match in re.finditer(rf"(?i)\b(?:{names})\b{_IS}{_FILLERS}(?P<value>{found})(?!\w)", prose):
        if not _is_shown(match.group(), shown):
            yield _read(match["value"], one)
    for match in re.finditer(rf"(?i){_GIVES}{_GIVE}[^.\n]{{0,40}}?\b(?P<value>{found})(?!\w)", prose):
        yield _read(match["value"], one)
    if one.holds == "number":
        for match in _OF.finditer(prose):
            if float(match["most"]) == one.schema.get("maximum") and not _is_shown(match.group(), shown):
                yield _read(match["value"], one)


def _names(one: Property, schema: Mapping[str, Any]) -> set[str]:
    """Return what sentences may call a property: its name, and common names where they are unambiguous."""
    names = {one.name.replace("_", " "), one.name}
    if sum(other.holds == one.holds for other in properties_of(schema)) == 1:
        names |= {*NUMBER_NAMES, "mark", "verdict", "judgement", "judgment", "decision", "evaluation"}
        if one.holds != "number":
            names.add("label")
    return names


def _value_pattern(one: Property) -> str:
    if one.holds == "number":
        return _NUMBER
    choices = one.schema["enum"] if one.holds == "choice" else list(_TRUTHS)
    return "|".join(sorted(map(re.escape, choices), key=len, reverse=True)) or r"(?!)"


def _read(written: str, one: Property) -> Any:
    word = written.casefold()
    if one.holds == "number":
        return float(_NUMBER_WORDS.index(word)) if word in _NUMBER_WORDS else float(written)
    return _TRUTHS[word] if one.holds == "truth" else word


def _numbers_behind(after: str, one: Property) -> Iterator[float]:
    """Yield the numbers after the object that lie on the property's scale."""
    low, high = one.schema.get("minimum"), one.schema.get("maximum")
    if low is None or high is None:
        return
    without_ratios = _OF.sub(lambda match: match["value"], _ITEM.sub(" ", after))
    for match in _BARE.finditer(without_ratios):
        if low <= float(match.group()) <= high:
            yield float(match.group())


def _is_shown(sentence: str, shown: Sequence[str]) -> bool:
    wanted = folded(sentence)
    return any(wanted in text for text in shown)


def _is_same(stated: Any, given: Any) -> bool:
    if isinstance(stated, float):
        try:
            return not isinstance(given, bool) and float(given) == stated
        except (TypeError, ValueError):
            return False
    return bool(stated == (given.casefold() if isinstance(given, str) else given))
