"""Read a verdict that a judge wrote as plain text: `name: value` lines, of which the last wins, or one whole word.

Used for servers without structured output. A name within a line, in a code fence or behind `>` is a quotation, not a
verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evalsi_kernel.broker.reply_json import FENCE
from evalsi_kernel.checking.value_schema import types_of

NUMBER_NAMES = ("score", "rating", "grade")
CHOICE_NAMES = ("label", "verdict", "answer")
_LEAD_INS = ("final ", "overall ", "my ")
_MARKS = " \t\r*_`#"
_QUOTES = "\"'“”„«»"
_UNFOLDED = re.compile(r"[\s*_`#]+")
_NAMED = re.compile(r"[ \t]*(?:[-*+#][ \t*_#]*)?(?P<name>[^\W\d_][\w -]{0,40}?)[ \t*_`]*[:=：](?P<rest>.*)")
_NUMBER = re.compile(
    r"(?P<number>-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?)"
    r"(?:\s?(?:/|(?:out )?of(?: (?:a|the) (?:possible|maximum|total|max)(?: of)?)?)\s?(?P<most>\d{1,30}(?:\.0{1,30})?)"
    r"(?: points?)?)?",
    re.IGNORECASE,
)
# What may follow a value: nothing, a full stop, or the next name on the same line.
_OVER = re.compile(r"[ \t*_`\"'”»]*(?:\.?\s*\Z|[,;|.][ \t*_]*[^\W\d_][\w -]{0,40}?[ \t*_`]*[:=：])")
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


class Unclear(ValueError):
    """The text names a verdict ambiguously; the message is the rest of a sentence."""


class Property(NamedTuple):
    """A property of the schema.

    Args:
        name: its name.
        holds: kind of its values; see `holds_of`.
        schema: its schema.
    """

    name: str
    holds: str
    schema: Mapping[str, Any]


class _Line(NamedTuple):
    """A line that names a property.

    Args:
        start: where the line begins in the text.
        end: where it ends.
        property: the named property.
        rest: the text after the name.
    """

    start: int
    end: int
    property: Property
    rest: str


def plain_verdict(text: str, schema: Mapping[str, Any], shown: Sequence[str] = ()) -> dict[str, Any]:
    """Return the properties that a plain text gives; empty where it gives no verdict.

    Args:
        text: the whole reply.
        schema: object schema of the answer.
        shown: `folded` texts that the judge was shown. A line that occurs in one of them is a quotation, unless it is
            the only line.

    Raises:
        Unclear: a property has an invalid value, or two values.
    """
    properties = list(properties_of(schema))
    whole = _whole(text, properties)
    if whole:
        return _with_reason(whole, properties, text)
    names = _names(properties)
    alone = "\n" not in text.strip()
    lines = [line for line in _lines(text, names) if alone or not _is_quoted(text[line.start : line.end], shown)]
    found: dict[str, Any] = {}
    for number, line in enumerate(lines):
        if line.property.holds == "text":
            end = lines[number + 1].start if number + 1 < len(lines) else len(text)
            found[line.property.name] = text[line.end - len(line.rest) : end].strip()
    for name, line in {line.property.name: line for line in lines if line.property.holds != "text"}.items():
        found[name] = _value(line, names)
    if all(one.holds == "text" for one in properties if one.name in found):
        return {}
    return _with_reason(found, properties, text)


def folded(text: str) -> str:
    """Normalize a text for the search of quotations: drop Markdown marks and blanks, fold case."""
    return _UNFOLDED.sub("", text).casefold()


def _is_quoted(line: str, shown: Sequence[str]) -> bool:
    wanted = re.compile(rf"{re.escape(folded(line).rstrip('.'))}(?!\d)")
    return any(wanted.search(text) for text in shown)


def holds_of(schema: Mapping[str, Any]) -> str:
    """Return the kind of a property: "number", "choice" (of texts), "truth", "text", or "" for any other."""
    kinds = set(types_of(dict(schema))) - {"null"}
    if kinds and kinds <= {"number", "integer"}:
        return "number"
    if "enum" in schema:
        return "choice" if all(isinstance(choice, str) for choice in schema["enum"]) else ""
    return "truth" if kinds == {"boolean"} else "text" if kinds == {"string"} else ""


def properties_of(schema: Mapping[str, Any]) -> Iterator[Property]:
    """Yield the properties that plain text can give."""
    for name, part in schema.get("properties", {}).items():
        if holds := holds_of(part):
            yield Property(name, holds, part)


def _names(properties: list[Property]) -> dict[str, Property]:
    """Return the names that a line may use: each property's own, and common names of the only number and choice."""
    names: dict[str, Property] = {}
    for holds, usual in (("number", NUMBER_NAMES), ("choice", CHOICE_NAMES)):
        of_kind = [one for one in properties if one.holds == holds]
        if len(of_kind) == 1:
            names |= dict.fromkeys(usual, of_kind[0])
    return names | {_folded_name(one.name): one for one in properties}


def _folded_name(name: str) -> str:
    folded = name.strip(_MARKS).casefold().replace("_", " ").replace("-", " ")
    for lead_in in _LEAD_INS:
        folded = folded.removeprefix(lead_in)
    return folded


def _lines(text: str, names: Mapping[str, Property]) -> Iterator[_Line]:
    start, fenced = 0, False
    for line in text.split("\n"):
        if line.lstrip().startswith(FENCE):
            fenced = not fenced
        named = None if fenced else _NAMED.match(line)
        if named and (one := names.get(_folded_name(named["name"]))):
            yield _Line(start, start + len(line), one, named["rest"])
        start += len(line) + 1


def _value(line: _Line, names: Mapping[str, Property]) -> Any:
    """Return the value after the name: a whole token, followed by nothing or by another name."""
    one, rest = line.property, line.rest.strip(_MARKS).lstrip(_QUOTES)
    value, end = _token(one, rest)
    over = None if value is None else _OVER.match(rest, end)
    if over is None:
        raise Unclear(f"a line names {one.name!r} with an invalid value: {line.rest.strip()[:60]!r}")
    again = "|".join(re.escape(name) for name, named in names.items() if named is one)
    if re.search(rf"\b(?:{again})[ *`]*[:=：]", rest.casefold().replace("_", " ").replace("-", " ")):
        raise Unclear(f"a line names {one.name!r} twice: {line.rest.strip()[:60]!r}")
    return value


def _token(one: Property, text: str) -> tuple[Any, int]:
    """Return the value that a text begins with and where it ends; None and 0 where there is none."""
    if one.holds == "number":
        number = _NUMBER.match(text)
        if number is None or (number["most"] and float(number["most"]) != one.schema.get("maximum")):
            return None, 0
        written = number["number"]
        return (float(written) if "." in written else int(written)), number.end()
    choices = {choice: choice for choice in one.schema["enum"]} if one.holds == "choice" else _TRUTHS
    folded = text.casefold()
    # Longest first, because one choice may be a prefix of another.
    for choice in sorted(choices, key=len, reverse=True):
        if len(folded) == len(text) and folded.startswith(choice.casefold()):
            return choices[choice], len(choice)
    return None, 0


def _whole(text: str, properties: list[Property]) -> dict[str, Any]:
    """Return the verdict of a reply that consists of one label or one number only."""
    bare = text.strip(_MARKS + _QUOTES + "\n.")
    for holds in ("choice", "number"):
        of_kind = [one for one in properties if one.holds == holds]
        if len(of_kind) == 1 and len(bare) <= 200:
            value, end = _token(of_kind[0], bare)
            if value is not None and end == len(bare):
                return {of_kind[0].name: value}
    return {}


def _with_reason(found: dict[str, Any], properties: list[Property], text: str) -> dict[str, Any]:
    """Add the whole reply as the schema's only text property, where no line gives that property."""
    texts = [one.name for one in properties if one.holds == "text"]
    return {texts[0]: text.strip(), **found} if found and len(texts) == 1 else found
