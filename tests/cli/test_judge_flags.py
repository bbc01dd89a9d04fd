"""Test the flags and environment variables of models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import QA, Done, evalsi
from tests.own_cache import own_cache
from tests.providers import KEY, MODEL, Answer, Provider, faults, fixed

GOOD = '{"reason": "It is right.", "score": 4}'


@pytest.fixture(autouse=True)
def own_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", own_cache(tmp_path / "cache"))
    for name in ("MODEL", "PROVIDER", "BASE_URL", "API_KEY_ENV", "EFFORT", "MAX_TOKENS", "TEMPERATURE"):
        monkeypatch.delenv(f"EVALSI_JUDGE_{name}", raising=False)
    monkeypatch.setenv("JUDGE_KEY", KEY)


def judged(url: str, *words: str | Path, model: str = MODEL, **variables: str) -> Done:
    flags = ["--judge-model", model, "--judge-base-url", url, "--judge-api-key-env", "JUDGE_KEY"]
    return evalsi("eval", "--data", QA, "--evaluators", "llm-judge", *flags, *words, variables=variables)


def test_a_judge_grades_and_the_second_run_makes_no_call() -> None:
    with Provider(fixed(GOOD)) as provider:
        first = judged(provider.base_url)
        calls = provider.calls
        again = judged(provider.base_url)
        assert provider.calls == calls == 6
        judged(provider.base_url, "--no-cache")
        assert provider.calls == 12
    assert (first.code, again.code) == (0, 0)
    assert "llm-judge  6  0.750" in first.out
    assert again.out.split("\n")[3].split()[-3:] == ["0", "6", "$0.00"]


def test_the_judge_has_its_long_name_and_its_rubric_by_name() -> None:
    with Provider(fixed(GOOD)) as provider:
        words = ["--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "JUDGE_KEY"]
        params = ["--param", "llm-judge.rubric=correctness"]
        done = evalsi("eval", "--data", QA, "--evaluators", "builtin/llm-judge", *params, *words)
        assert "reference" in provider.requests[0].prompt
    assert "llm-judge  6  0.750" in done.out


def test_claude_grades_with_the_provider_anthropic() -> None:
    with Provider(fixed(GOOD)) as provider:
        done = judged(provider.root_url, "--judge-provider", "anthropic", "--param", "llm-judge.rubric=helpfulness")
        assert provider.requests[0].path == "/v1/messages"
    assert done.code == 0
    assert "llm-judge  6  0.750" in done.out


def test_variables_stand_in_for_flags_and_flags_go_before_them() -> None:
    words = ["eval", "--data", str(QA), "--evaluators", "llm-judge"]
    with Provider(fixed(GOOD)) as provider:
        variables = {
            "EVALSI_JUDGE_MODEL": MODEL,
            "EVALSI_JUDGE_BASE_URL": provider.base_url,
            "EVALSI_JUDGE_API_KEY_ENV": "JUDGE_KEY",
            "EVALSI_JUDGE_MAX_TOKENS": "77",
            "EVALSI_JUDGE_TEMPERATURE": "0.5",
            "EVALSI_JUDGE_EFFORT": "low",
        }
        assert evalsi(*words, variables=variables).code == 0
        sent = provider.requests[0].body
        assert (sent["max_tokens"], sent["temperature"], sent["reasoning_effort"]) == (77, 0.5, "low")
        assert evalsi(*words, "--judge-max-tokens", "99", variables=variables).code == 0
        assert provider.requests[-1].body["max_tokens"] == 99


def test_a_dry_run_makes_no_call_and_says_what_it_would_cost(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(f'version = "mine"\n[models."{MODEL}"]\ninput = 1.0\noutput = 2.0\n')
    with Provider(fixed(GOOD)) as provider:
        told = judged(provider.base_url, "--dry-run", "--judge-prices", prices, "--judge-max-tokens", "500")
        counted = judged(provider.base_url, "--dry-run", "--format", "json")
        assert provider.calls == 0
        judged(provider.base_url)
        cached = judged(provider.base_url, "--dry-run", "--format", "json")
    assert told.code == 0
    assert told.out.startswith("6 calls would be made, 0 answered by the cache; ")
    assert "$0.0" in told.out
    assert {key: json.loads(counted.out)[key] for key in ("calls", "cached", "max_usd")} == {
        "calls": 6,
        "cached": 0,
        "max_usd": None,
    }
    assert (json.loads(cached.out)["calls"], json.loads(cached.out)["cached"]) == (0, 6)


def test_a_budget_that_is_used_up_fails_the_run_and_keeps_what_was_judged(tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    words = ["--judge-max-tokens", "100", "--output", str(output)]
    with Provider(fixed(Answer(GOOD, input_tokens=1_000, output_tokens=100))) as provider:
        done = judged(provider.base_url, "--judge-budget-tokens", "6000", *words)
        calls = provider.calls
        more = judged(provider.base_url, *words)
        assert provider.calls == 6, "what was judged comes from the cache"
    assert 0 < calls < 6
    assert calls * 1_100 <= 6_000
    assert done.code == 1
    assert "budget" in done.err
    assert "Traceback" not in done.err
    assert json.loads(output.read_text())["manifest"]["status"] == "complete"
    assert more.code == 0


def test_g4_a_budget_that_is_used_up_leaves_the_evaluation_incomplete_and_tells_the_overshoot(tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    # Each reply takes far more than was reserved for it.
    with Provider(fixed(Answer(GOOD, input_tokens=1_000, output_tokens=5_500))) as provider:
        words = ["--judge-max-tokens", "100", "--judge-budget-tokens", "6000", "--output", str(output)]
        done = judged(provider.base_url, *words)
    assert done.code == 1
    assert json.loads(output.read_text())["manifest"]["status"] == "incomplete"
    assert "tokens were used of a budget of 6,000" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--judge-base-url", "http://localhost:1/v1"], "--judge-base-url needs a model, and none is given"),
        (["--judge-model", "m", "--judge-max-tokens", "0"], "--judge-max-tokens is 0; it must be greater than 0"),
        (["--judge-model", "m", "--judge-budget-usd", "nan"], "--judge-budget-usd is nan"),
        (["--dry-run"], "--dry-run applies to model calls, and no model is given"),
        (["--judge-budget-usd", "1"], "--judge-budget-usd applies to model calls, and no model is given"),
    ],
)
def test_flags_that_say_nothing_sensible_are_refused_before_any_work(words: list[str], said: str) -> None:
    done = evalsi("eval", "--data", QA, "--evaluators", "exact-match", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_there_is_no_default_judge() -> None:
    done = evalsi("eval", "--data", QA, "--evaluators", "llm-judge")
    assert (done.code, done.out) == (1, "")
    assert "llm-judge needs a judge, but none is configured." in done.err
    assert "--judge-model" in done.err


def test_an_unknown_provider_is_told_with_those_there_are() -> None:
    done = judged("http://localhost:1/v1", "--judge-provider", "anthropik")
    assert done.code == 1
    assert "Did you mean" in done.err
    assert "openai-compatible" in done.err


def test_a_missing_key_names_its_variable() -> None:
    done = evalsi(
        *("eval", "--data", QA, "--evaluators", "llm-judge", "--judge-model", "m", "--judge-provider", "anthropic"),
        variables={"ANTHROPIC_API_KEY": ""},
    )
    assert done.code == 1
    assert "ANTHROPIC_API_KEY" in done.err


def test_a_judge_that_nobody_asks_is_said() -> None:
    with Provider(fixed(GOOD)) as provider:
        words = ["--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "JUDGE_KEY"]
        done = evalsi("eval", "--data", QA, "--evaluators", "exact-match", *words)
    assert done.code == 0
    assert "A judge is named, and none of the evaluators asks one." in done.err


def test_j4_the_longest_wait_is_what_its_flag_says() -> None:
    with Provider(fixed(GOOD), faults=lambda call: faults.rate_limited(86_400) if call == 1 else None) as provider:
        done = judged(provider.base_url, "--judge-max-wait", "7", "--format", "json")
        assert provider.calls == 6
    (summary,) = json.loads(done.out)["summaries"]
    assert (summary["n"], summary["errors"]) == (5, 1)
    assert "asks to wait 86,400 s, but a call may take at most 7 s" in done.out
