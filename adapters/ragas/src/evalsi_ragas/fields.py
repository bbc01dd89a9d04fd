"""Read the arguments of a metric from a record: texts, lists of texts, rubrics and ids.

A missing field skips the record; a blank or malformed one is a data error.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from evalsi import Record, Skip
from evalsi_ragas.row import NEEDS, Row

_TEXTS = ("user_input", "response")
_CONTEXTS = ("retrieved_contexts", "summarized")
_LISTS_OF_TEXTS = ("reference_contexts", "reference_topics")


def is_blank(text: str) -> bool:
    """Return whether a text has no visible character."""
    return not any(character.isprintable() and not character.isspace() for character in text)


def taken(row: Row, record: Record) -> dict[str, Any]:
    """Return the arguments of a metric by their RAGAS names, without the reference and the conversation.

    Raises:
        evalsi.Skip: the record lacks a field, a required list is empty, or the record has content such as images that
            a model would not see.
        ValueError: a field has a shape that RAGAS does not read, or a text to be judged is blank.
    """
    if row.asks:
        record.require_shown(*(NEEDS[name] for name in (*row.takes, *row.may_take)))
    found = {name: _value(name, record) for name in row.takes if name not in ("reference", "conversation")}
    for name, value in found.items():
        if value in ([], {}) and name not in row.may_be_empty:
            raise Skip("no context" if NEEDS[name] == "context" else f"{NEEDS[name]} is empty")
        if row.asks:
            _refuse_blank(name, value)
    return found | _beside(row, record)


def references(row: Row, record: Record) -> list[str | None]:
    """Return the references, any of which counts as correct.

    The list is [None] if the metric takes no reference, or if the reference is optional and missing.

    Raises:
        evalsi.Skip: the metric needs a reference and the record has none.
        ValueError: a reference that a model judges by is blank.
    """
    if "reference" in row.takes or ("reference" in row.may_take and record.has("reference")):
        texts = record.reference_texts
        if row.asks:
            for text in texts:
                _refuse_blank("reference", text)
        return list(texts)
    return [None]


def _beside(row: Row, record: Record) -> dict[str, Any]:
    """Return the optional arguments that the record has and that are not blank."""
    there = (name for name in row.may_take if name != "reference" and record.has(NEEDS[name]))
    found = ((name, _value(name, record)) for name in there)
    return {name: value for name, value in found if not _is_nothing(value)}


def _value(name: str, record: Record) -> Any:
    if name in _TEXTS:
        return (record.input if name == "user_input" else record.output).as_text()
    if name in _CONTEXTS:
        return [one.as_text() for one in record.context]
    key = NEEDS[name].partition(".")[2]
    value = record.metadata.get(key)
    if value is None:
        raise Skip(f"record has no {NEEDS[name]}")
    if name in _LISTS_OF_TEXTS:
        return _texts(key, [value] if isinstance(value, str) else value)
    if name == "rubrics":
        return _rubrics(value)
    if not isinstance(value, list):
        raise ValueError(f"metadata.{key} is {value!r:.80}; write it as a list")
    return value if name == "reference_tool_calls" else _ids(key, value)


def _texts(key: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"metadata.{key} is {value!r:.80}; write it as a list of texts")
    return value


def _ids(key: str, value: Collection[Any]) -> list[str | int]:
    if not all(isinstance(one, str | int) and not isinstance(one, bool) for one in value):
        raise ValueError(f"metadata.{key} is {value!r:.80}; write it as a list of texts or whole numbers")
    return list(value)


def _rubrics(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(one, str) for one in value.values()):
        raise ValueError(f"metadata.rubrics is {value!r:.80}; write it as texts by name, such as score1_description")
    return dict(value)


def _refuse_blank(name: str, value: Any) -> None:
    if _is_nothing(value):
        field = NEEDS[name]
        raise ValueError(f"the {field} holds no text; correct the {field} of this record")


def _is_nothing(value: Any) -> bool:
    if isinstance(value, str):
        return is_blank(value)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return all(map(is_blank, value))
    return not value
