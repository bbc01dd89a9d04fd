"""Records and what each evaluator of the built-in packs must make of them; it must not know how they are run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Verdict = bool | float | str | dict[str, float]
"""Passed, a number, one number for each metric, or `skipped: reason` and `error: part of the message`."""

SCHEMA = {"type": "object", "properties": {"rows": {"type": "integer"}}, "required": ["rows"]}

EVALUATORS: list[dict[str, Any]] = [
    *({"ref": name} for name in ("exact-match", "contains", "fuzzy-match", "numeric-match", "json-valid")),
    *({"ref": name} for name in ("json-equal", "length", "latency", "token-usage", "cost")),
    *({"ref": name} for name in ("bleu", "corpus-bleu", "chrf", "rouge", "token-f1")),
    {"ref": "json-schema", "params": {"schema": SCHEMA}},
    {"ref": "regex-match", "params": {"pattern": r"^[A-Z]\w+$"}},
    {"ref": "exact-match", "name": "exact-match-raw", "params": {"normalize": False}},
    {"ref": "contains", "name": "contains-gate", "params": {"substring": "GATE"}},
    {"ref": "json-equal", "name": "json-equal-loose", "params": {"ignore": ["id"], "tolerance": {"n": 0.5}}},
    {"ref": "length", "name": "length-characters", "params": {"unit": "characters"}},
    {"ref": "corpus-bleu", "name": "corpus-bleu-2", "params": {"max_n": 2}},
]


@dataclass(frozen=True, slots=True)
class Case:
    """One record, and the verdicts that matter about it."""

    id: str
    record: dict[str, Any]
    verdicts: dict[str, Verdict]


def case(id: str, verdicts: dict[str, Verdict], **record: Any) -> Case:
    """A case, its record written as keywords."""
    return Case(id, record, verdicts)


EMPTY_REFERENCE = "error: every reference of this record is empty; correct the data"

CASES = [
    case(
        "alike",
        {
            "exact-match": True,
            "exact-match-raw": False,
            "contains": True,
            "contains-gate": True,
            "fuzzy-match": 1.0,
            "numeric-match": "skipped: reference has no number",
            "json-valid": False,
            "json-equal": "error: the reference is not JSON",
            "json-schema": False,
            "regex-match": False,
            "length": 4.0,
            "length-characters": 20.0,
            "latency": 235.0,
            "cost": 0.0,
            "token-usage": {"input-tokens": 7, "output-tokens": 5, "total-tokens": 12},
            "rouge": {"rouge-1": 1.0, "rouge-2": 1.0, "rouge-l": 1.0},
            "token-f1": 1.0,
        },
        output="the old harbour gate",
        reference="The old Harbour Gate",
        usage={"latency_ms": 235, "cost_usd": 0, "input_tokens": 7, "output_tokens": 5},
    ),
    case(
        "nothing known",
        {
            "exact-match": "skipped: record has no reference",
            "contains": "skipped: record has no reference",
            "contains-gate": False,
            "fuzzy-match": "skipped: record has no reference",
            "numeric-match": "skipped: record has no reference",
            "json-equal": "skipped: record has no reference",
            "regex-match": True,
            "length": 1.0,
            "latency": "skipped: record has no usage.latency_ms",
            "cost": "skipped: record has no usage.cost_usd",
            "token-usage": "skipped: record has no usage",
            "bleu": "skipped: record has no reference",
            "corpus-bleu": "skipped: record has no reference",
            "chrf": "skipped: record has no reference",
            "rouge": "skipped: record has no reference",
            "token-f1": "skipped: record has no reference",
        },
        output="Lisbon",
    ),
    case(
        "no output",
        dict.fromkeys(
            ("exact-match", "contains", "contains-gate", "json-valid", "json-schema", "regex-match", "length", "bleu"),
            "skipped: record has no output",
        ),
        reference="Lisbon",
    ),
    case(
        "ends with the digits",
        {"numeric-match": False, "exact-match": False, "contains": True},
        output="After the second transfer the tank holds 618.",
        reference="18",
    ),
    case(
        "an amount",
        {"numeric-match": True, "exact-match": False, "contains": False},
        output="So the invoice comes to $1,284.00.",
        reference="1284",
    ),
    case(
        "a last number that cannot be read",
        {"numeric-match": False},
        output="He has 3 left at 10:30",
        reference="3",
    ),
    case(
        "a reference's last number that cannot be read",
        {"numeric-match": "skipped: the last number of the reference cannot be read: 10:30"},
        output="3",
        reference="3 left at 10:30",
    ),
    case("a rate", {"numeric-match": False}, output="In 8 hours she is paid $60/hour", reference="8"),
    case("boxed", {"numeric-match": True, "exact-match": False}, output="So $\\boxed{42}$.", reference=["41", "42"]),
    case(
        "empty output",
        {
            "exact-match": False,
            "contains": False,
            "fuzzy-match": 0.0,
            "numeric-match": "skipped: reference has no number",
            "bleu": 0.0,
            "chrf": 0.0,
            "rouge": {"rouge-1": 0.0, "rouge-2": 0.0, "rouge-l": 0.0},
            "token-f1": 0.0,
            "length": 0.0,
        },
        output="",
        reference="Lisbon",
    ),
    case("blank output", {"contains": False, "fuzzy-match": 0.0, "token-f1": 0.0}, output="   \n", reference="Lisbon"),
    case(
        "empty reference",
        {
            "contains": EMPTY_REFERENCE,
            "fuzzy-match": EMPTY_REFERENCE,
            "rouge": "error: no reference holds a word; correct the references of this record",
            "token-f1": "error: no reference holds a letter or a digit; correct the references of this record",
            "bleu": 0.0,
            "contains-gate": False,
        },
        output="a long answer",
        reference="",
    ),
    case(
        "json",
        {
            "json-valid": True,
            "json-schema": True,
            "json-equal": {"json-equal": 1.0, "json-equal.fields": 1.0},
            "exact-match": False,
        },
        output='{"rows": 3, "notes": {}}',
        reference='{"notes": {}, "rows": 3.0}',
    ),
    case(
        "json apart",
        {
            "json-valid": True,
            "json-schema": False,
            "json-equal": {"json-equal": 0.0, "json-equal.fields": 0.0},
            "json-equal-loose": {"json-equal-loose": 1.0, "json-equal-loose.json-equal.fields": 1.0},
        },
        output={"json": {"id": True, "n": 1.5}},
        reference={"json": {"id": 1, "n": 1}},
    ),
    case(
        "json beyond every float",
        {
            "json-valid": True,
            "json-equal": "error: 1e999 is beyond the range of a float",
            "json-schema": "error: 1e999",
        },
        output="1e999",
        reference={"json": 1},
    ),
    case(
        "json that UTF-8 cannot hold",
        {"json-equal": {"json-equal": 0.0, "json-equal.fields": 0.0}, "json-valid": True},
        output='{"\\ud800": "\\ud800"}',
        reference='{"\\ud800": 1}',
    ),
    case(
        "nepali",
        {"rouge": {"rouge-1": 1.0, "rouge-2": 1.0, "rouge-l": 1.0}, "token-f1": 1.0, "chrf": 1.0, "bleu": 1.0},
        output="नदी किनारमा बजार बिहान खुल्छ",
        reference="नदी किनारमा बजार बिहान खुल्छ",
    ),
    case("czech", {"rouge": {"rouge-1": 0.0, "rouge-2": 0.0, "rouge-l": 0.0}}, output="díl", reference="důl"),
    case("repeated", {"token-f1": 0.4}, output="Lisbon Lisbon Lisbon Lisbon", reference="Lisbon"),
    case("article", {"token-f1": 1.0}, output="A", reference="A"),
    case("one of two", {"token-f1": 1.0, "exact-match": True}, output="Oslo", reference=["!!!", "Oslo"]),
    case("short", {"bleu": 1.0, "exact-match-raw": True}, output="Harbour Gate", reference="Harbour Gate"),
    case("rug", {"chrf": 0.570261}, output="the dog lay on the rug", reference="the dog sits on the rug"),
    case("form feed", {"bleu": 0.0, "chrf": 0.0}, output="hello there", reference="\f"),
    case(
        "messages",
        {"exact-match": True, "regex-match": True},
        output=[{"role": "assistant", "content": "Lisbon"}],
        reference="lisbon",
    ),
]
