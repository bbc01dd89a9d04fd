"""Every evaluator of the built-in packs, through the protocol and in the packs' own environments."""

from __future__ import annotations

from typing import Any

import pytest

import evalsi
from tests.packs.truth_table import CASES, EVALUATORS, Verdict

OUTPUTS = [
    "The ferry leaves at seven in the morning.",
    "",
    "Nobody answered the second letter from the bank.",
]
REFERENCES = [
    "The ferry leaves at seven each morning.",
    "We kept a spare key under the blue pot.",
    "No one answered the second letter from the bank.",
]

Outcome = dict[str, Any]


@pytest.fixture(scope="session")
def outcomes() -> dict[tuple[str, str], Outcome]:
    """(record, evaluator) → its outcome: every case by every evaluator, so that each pack starts once."""
    rows = [{"id": case.id, **case.record} for case in CASES]
    found = evalsi.evaluate(rows, EVALUATORS, quiet=True).results
    return {(outcome["record_id"], outcome["evaluator"]): outcome for outcome in found}


def check(outcome: Outcome, expected: Verdict) -> None:
    if isinstance(expected, str):
        kind, _, text = expected.partition(": ")
        assert outcome["outcome"] == kind, outcome
        told = outcome["reason"] if kind == "skipped" else outcome["error"]["message"]
        assert text in told
        return
    assert outcome["outcome"] == "scored", outcome
    numbers = {score["name"]: float(score.get("value", score.get("passed"))) for score in outcome["scores"]}
    if not isinstance(expected, dict):
        expected = {outcome["evaluator"]: float(expected)}
    assert numbers == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("record", "evaluator", "expected"),
    [(case.id, evaluator, expected) for case in CASES for evaluator, expected in case.verdicts.items()],
)
def test_each_record_gets_the_right_verdict(
    outcomes: dict[tuple[str, str], Outcome], record: str, evaluator: str, expected: Verdict
) -> None:
    check(outcomes[record, evaluator], expected)


def test_every_evaluator_of_both_packs_has_a_case_that_is_scored() -> None:
    from evalsi_kernel.packs.catalog import default_catalog

    catalog = default_catalog()
    there = {info.name for pack in ("core", "text") for info in catalog.pack(pack).evaluators}
    refs = {spec.get("name", spec["ref"]): spec["ref"] for spec in EVALUATORS}
    scored = {refs[name] for case in CASES for name, verdict in case.verdicts.items() if not isinstance(verdict, str)}
    # Dataset scope: test_corpus_bleu_pools_its_counts.
    assert there - scored == {"corpus-bleu"}


def test_every_record_gets_exactly_one_outcome_of_every_evaluator(outcomes: dict[tuple[str, str], Outcome]) -> None:
    names = {spec.get("name", spec["ref"]) for spec in EVALUATORS if not spec["ref"].startswith("corpus")}
    for case in CASES:
        assert {evaluator for record, evaluator in outcomes if record == case.id} >= names


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_corpus_bleu_pools_its_counts(order: list[int]) -> None:
    rows = [{"output": OUTPUTS[index], "reference": REFERENCES[index]} for index in order]
    result = evalsi.evaluate(rows, ["corpus-bleu"], quiet=True)
    assert result["corpus-bleu"].mean == pytest.approx(0.399212, abs=1e-6)
    assert result["corpus-bleu"].n == 3


def test_corpus_bleu_of_short_outputs_is_0_and_says_why() -> None:
    result = evalsi.evaluate([{"output": "Harbour Gate", "reference": "Harbour Gate"}], ["corpus-bleu"], quiet=True)
    (outcome,) = result.results
    (score,) = outcome["scores"]
    assert score["value"] == 0.0
    assert score["explanation"] == "No output has 4 words in a row, so BLEU-4 of this corpus is 0 by definition."


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"ref": "regex-match", "params": {"pattern": "("}}, r"regex-match\.pattern: '\(' is no RE2 pattern"),
        ({"ref": "regex-match", "params": {"pattern": ""}}, "pattern"),
        ({"ref": "regex-match"}, "pattern"),
        ({"ref": "contains", "params": {"substring": ""}}, "substring"),
        ({"ref": "contains", "params": {"substring": " "}}, "substring: it is empty or blank"),
        ({"ref": "json-schema", "params": {"schema": {"pattern": "(?=x)"}}}, "is no RE2 pattern"),
        ({"ref": "json-schema", "params": {"schema": {"type": "strin"}}}, r"json-schema\.schema: it is no JSON Schema"),
        ({"ref": "json-schema", "params": {"schema": {"$ref": "https://example.org/a"}}}, "nothing is fetched"),
        ({"ref": "json-equal", "params": {"tolerance": {"n": -1}}}, r"json-equal\.tolerance: .* below zero"),
        ({"ref": "bleu", "params": {"max_n": 0}}, "max_n"),
        ({"ref": "length", "params": {"unit": "lines"}}, "unit"),
    ],
)
def test_a_bad_param_stops_the_run_before_any_record(spec: dict[str, Any], fault: str) -> None:
    from evalsi_kernel.errors import EvalsiError

    with pytest.raises(EvalsiError, match=fault):
        evalsi.evaluate([{"output": "x", "reference": "y"}], [spec], quiet=True)
