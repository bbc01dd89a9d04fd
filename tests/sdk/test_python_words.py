"""C6: messages in Python name arguments instead of flags."""

from __future__ import annotations

from typing import Any

import pytest

import evalsi
from evalsi import Record
from evalsi.python_words import in_python
from evalsi_kernel.errors import EvalsiError


@pytest.mark.parametrize(
    ("told", "read"),
    [
        (
            "Use --map output=COLUMN if one of them holds it.",
            'Use mapping={"output": "COLUMN"} if one of them holds it.',
        ),
        ("Add --map metadata.topic=topic.", 'Add mapping={"metadata.topic": "topic"}.'),
        ("--map names the field 'x'.", "mapping names the field 'x'."),
        ("Add --param regex.pattern=VALUE.", 'Add params={"regex": {"pattern": VALUE}}.'),
        ("Write --param a/b.deep=true.", 'Write params={"a/b": {"deep": true}}.'),
        ("Name one with --judge-model.", "Name one with judge."),
        (
            "Name one: --embed-model MODEL, with --embed-base-url or --embed-provider.",
            'Name one: embed="MODEL", with embed["base_url"] or embed["provider"].',
        ),
        ("Raise --judge-timeout, lower --judge-max-tokens.", 'Raise judge["timeout_s"], lower judge["max_tokens"].'),
        ("Raise --judge-budget-usd.", 'Raise budget["usd"].'),
        ("Leave out --judge-batch, or use --no-cache.", "Leave out batch, or use cache=False."),
        ("Run `evalsi plugins update --fresh --output x`.", "Run `evalsi plugins update --fresh --output x`."),
        ("A file that --log_samples wrote.", "A file that --log_samples wrote."),
    ],
)
def test_c6_flags_read_as_arguments(told: str, read: str) -> None:
    assert in_python(told) == read


def asking(record: Record) -> bool:
    return True


@pytest.mark.parametrize(
    ("evaluators", "more"),
    [
        (["llm-judge"], {}),
        (["exact-match"], {"mapping": {"nothing": "x"}}),
        (["regex"], {}),
        (["regex"], {"params": {"regex": {"patern": "x"}}}),
        (["exact-match"], {"params": {"other": {"x": 1}}}),
        (["exact-match", "exact-match"], {}),
        (["exact-match"], {"limit": 0}),
        (["exact-match"], {"record_timeout_s": -1}),
    ],
)
def test_c6_errors_of_evaluate_name_no_flag(evaluators: list[Any], more: dict[str, Any]) -> None:
    with pytest.raises(EvalsiError) as raised:
        evalsi.evaluate([{"output": "x", "reference": "x"}], evaluators, quiet=True, **more)
    assert "--" not in str(raised.value)
    assert "--" not in raised.value.message


def test_c6_findings_of_evaluate_name_no_flag() -> None:
    result = evalsi.evaluate([{"answer": "x", "reference": "x"}], ["exact-match"], quiet=True)
    (finding,) = result.findings
    assert 'mapping={"output": "COLUMN"}' in finding
