"""What differs between how two runs were made, and gates that let more pass than before."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi_comparison.gate_changes import gate_changes
from evalsi_comparison.run_changes import Change, run_changes
from tests.comparison.results_files import MANIFEST


def manifest(**parts: Any) -> dict[str, Any]:
    return {**MANIFEST, **parts}


def gated(*gates: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"manifest": {"spec": {"gates": list(gates), **spec}}}


def evaluator(ref: str, **params: Any) -> dict[str, Any]:
    return {"name": "exact", "ref": ref, "params": params, "scope": "record"}


def test_equal_runs_differ_in_nothing() -> None:
    assert run_changes(MANIFEST, dict(MANIFEST)) == []


@pytest.mark.parametrize(
    ("base", "candidate", "change"),
    [
        (
            {"target": {"connector": "openai-compatible", "model": "small"}},
            {"target": {"connector": "openai-compatible", "model": "large"}},
            Change("target", "model", "small", "large"),
        ),
        (
            {"spec": {"target": {"model": "m", "system_prompt": "Be brief."}}},
            {"spec": {"target": {"model": "m", "system_prompt": "Be brief.\nBe kind."}}},
            Change("target", "system_prompt", "Be brief.", "Be brief. Be kind."),
        ),
        (
            {"spec": {"spec": {"target": {"temperature": 0}}}},
            {"spec": {"spec": {"target": {}}}},
            Change("target", "temperature", "0", ""),
        ),
        (
            {"evaluators": [evaluator("core/exact@1")]},
            {"evaluators": [evaluator("core/exact@2")]},
            Change("evaluators", "exact version", "core/exact@1", "core/exact@2"),
        ),
        (
            {"evaluators": [evaluator("core/exact@1", normalize=True)]},
            {"evaluators": [evaluator("core/exact@1", normalize=False)]},
            Change("evaluators", "exact.normalize", "true", "false"),
        ),
        (
            {"evaluators": [{**evaluator("core/exact@1"), "prompts": ["a" * 64]}]},
            {"evaluators": [{**evaluator("core/exact@1"), "prompts": ["b" * 64]}]},
            Change("evaluators", "exact prompts", "a" * 12, "b" * 12),
        ),
        (
            {"evaluators": [{**evaluator("./mine.py:exact/exact@1"), "sha256": "a" * 64}]},
            {"evaluators": [{**evaluator("./mine.py:exact/exact@1"), "sha256": "b" * 64}]},
            Change("evaluators", "exact file", "a" * 12, "b" * 12),
        ),
        ({"evaluators": [evaluator("core/exact@1")]}, {}, Change("evaluators", "exact", "core/exact@1", "")),
        (
            {},
            {"packs": [{"name": "core", "version": "1.0.0", "lock_sha256": "99" * 32}]},
            Change("packs", "core.lock", "cd" * 6, "99" * 6),
        ),
        (
            {"judge": {"roles": {"judge": {"model": "one"}}, "calls": 7}},
            {"judge": {"roles": {"judge": {"model": "two"}}, "calls": 9}},
            Change("judge", "roles.judge.model", "one", "two"),
        ),
        ({"trials": 3}, {"trials": 1}, Change("run", "trials", "3", "1")),
        ({}, {"limit": 10}, Change("data", "limit", "", "10")),
        ({}, {"evalsi_version": "0.5.0"}, Change("evalsi", "version", "0.4.0", "0.5.0")),
    ],
)
def test_each_thing_that_differs_is_named(base: dict[str, Any], candidate: dict[str, Any], change: Change) -> None:
    assert run_changes(manifest(**base), manifest(**candidate)) == [change]


def test_long_prompts_are_shown_from_where_they_part() -> None:
    same = "You are a careful assistant. " * 20
    base, candidate = ({"target": {"system_prompt": f"{same}Answer in {how}."}} for how in ("one word", "a sentence"))
    (change,) = run_changes(manifest(**base), manifest(**candidate))
    assert change.base.endswith("Answer in one word.")
    assert change.candidate.endswith("Answer in a sentence.")
    assert len(change.base) < 100


def test_prompts_that_differ_in_spaces_alone_are_not_shown_as_equal() -> None:
    base, candidate = ({"target": {"system_prompt": text}} for text in ("Be brief.", "Be  brief."))
    (change,) = run_changes(manifest(**base), manifest(**candidate))
    assert change.base != change.candidate


@pytest.mark.parametrize(
    ("before", "after", "weakens"),
    [
        ({"min": 0.9}, {"min": 0.8}, True),
        ({"min": 0.8}, {"min": 0.9}, False),
        ({"min": 0.9}, {"max": 0.95}, True),
        ({"max": 0.1}, {"max": 0.2}, True),
        ({"max": 0.2}, {"max": 0.1}, False),
        ({"min": 0.9}, {"min": 0.9, "max_error_rate": 0.1}, True),
        ({"min": 0.9, "max_error_rate": 0.1}, {"min": 0.9}, False),
        ({"min": 0.9}, {"min": 0.9, "max_skip_rate": 0.9}, True),
        ({"max_drop": 0.01}, {"max_drop": 0.05}, True),
        ({"max_drop": 0.05}, {"max_drop": 0.05, "significant": True}, True),
        ({"min": 0.9}, {"min": 0.9, "undecided": "pass"}, True),
        ({"min": 0.9, "undecided": "pass"}, {"min": 0.9}, False),
    ],
)
def test_a_gate_that_lets_more_pass_is_weakened(before: dict[str, Any], after: dict[str, Any], weakens: bool) -> None:
    found = gate_changes(gated({"metric": "exact", **before}), gated({"metric": "exact", **after}))
    assert found
    assert any(one.weakens for one in found) is weakens


def test_a_gate_that_vanished_is_weakened_and_one_that_came_is_not() -> None:
    one, two = {"metric": "exact", "min": 0.9}, {"metric": "exact", "stat": "GATE_STAT_CI_LOW", "min": 0.8}
    assert gate_changes(gated(one, two), gated(one)) == [Change("gates", "exact ci_low", "min 0.8", "", True)]
    assert gate_changes(gated(one), gated(one, two)) == [Change("gates", "exact ci_low", "", "min 0.8", False)]
    assert gate_changes(gated(one, two), gated(two, one)) == []


def test_what_holds_for_all_gates_weakens_them_all() -> None:
    gate = {"metric": "exact", "min": 0.9}
    (change,) = gate_changes(gated(gate), gated(gate, undecided="pass"))
    assert change == Change("gates", "all gates undecided", "fail", "pass", True)
    (change,) = gate_changes(gated(gate), gated(gate, max_error_rate=0.2))
    assert change.weakens


def test_gates_are_found_without_a_spec_too() -> None:
    bare = {"verdict": "pass", "value": 0.9, "n": 10, "max": None}
    base, candidate = (
        {"manifest": {}, "gates": [{"metric": "exact", "stat": "mean", "min": least, **bare}]} for least in (0.9, 0.5)
    )
    assert gate_changes(base, candidate) == [Change("gates", "exact min", "0.9", "0.5", True)]
