"""Test the validation of model and budget arguments."""

from __future__ import annotations

from typing import Any

import pytest

import evalsi
from evalsi.model_settings import MODEL
from evalsi_kernel.broker.settings import ModelSettings
from evalsi_kernel.errors import UsageError


def refused(**given: Any) -> str:
    with pytest.raises(UsageError) as caught:
        evalsi.evaluate([{"output": "a", "reference": "a"}], ["exact-match"], quiet=True, **given)
    return str(caught.value)


def test_each_setting_of_a_model_has_its_rule() -> None:
    assert tuple(MODEL["properties"]) == ModelSettings._fields


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"judge": {"modle": "m", "model": "m"}}, 'judge.modle is not a known key. Did you mean "model"?'),
        ({"judge": {"base_url": "http://localhost:1/v1"}}, "judge.model is missing."),
        ({"judge": ""}, "judge.model must have at least 1 characters, not 0."),
        ({"judge": 5}, "judge must be text or an object, not the number 5."),
        (
            {"judge": {"model": "m", "max_tokens": "16000"}},
            'judge.max_tokens must be a whole number, not the text "16000"',
        ),
        ({"judge": {"model": "m", "max_tokens": 0}}, "judge.max_tokens must be at least 1, not the number 0."),
        ({"judge": {"model": "m", "timeout_s": 0}}, "judge.timeout_s must be more than 0, not the number 0."),
        ({"judge": {"model": "m", "timeout_s": float("inf")}}, "judge.timeout_s must be a number, not the number inf."),
        ({"judge": {"model": "m", "max_in_flight": 1.5}}, "judge.max_in_flight must be a whole number"),
        ({"judge": {"model": "m", "temperature": "warm"}}, "judge.temperature must be a number or null"),
        ({"judge": {"model": "m", "base_url": 8000}}, "judge.base_url must be text or null, not the number 8000."),
        ({"embed": {"model": "m", "providor": "x"}}, 'embed.providor is not a known key. Did you mean "provider"?'),
        ({"judge": "m", "budget": {"dollars": 2}}, "budget.dollars is not a known key."),
        ({"judge": "m", "budget": {"usd": "2"}}, 'budget.usd must be a number, not the text "2".'),
        ({"judge": "m", "budget": {"usd": float("nan")}}, "budget.usd must be a number"),
        ({"judge": "m", "budget": {"tokens": 0}}, "budget.tokens must be at least 1"),
        ({"judge": "m", "budget": 2.0}, "budget must be an object, not the number 2.0."),
        ({"budget": {"usd": 2.0}}, "budget applies to model calls, and no model is given. Pass one with judge."),
        ({"prices": "prices.toml"}, "prices applies to model calls, and no model is given."),
        ({"embed": "m", "batch": True}, "batch needs a judge, and none is given."),
        ({"batch": True}, "batch needs a judge, and none is given."),
    ],
    ids=range(21),
)
def test_what_does_not_fit_is_told_with_its_place(given: dict[str, Any], told: str) -> None:
    assert told in refused(**given)


def test_all_that_does_not_fit_is_told_at_once() -> None:
    told = refused(judge={"model": "m", "max_tokens": None, "timeout_s": True})
    assert "2 problems" in told
    assert "judge.max_tokens must be a whole number, not null." in told
    assert "judge.timeout_s must be a number, not true." in told
