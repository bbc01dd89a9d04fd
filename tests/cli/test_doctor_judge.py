"""Test the prompt-injection self-test of `evalsi doctor judge`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import evalsi
from tests.providers import KEY, MODEL, Provider, Request, fixed


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)


def flags(provider: Provider) -> list[str]:
    return [
        *("--judge-model", MODEL, "--judge-base-url", provider.base_url),
        *("--judge-api-key-env", "JUDGE_KEY", "--no-cache"),
    ]


def test_no_reply_that_only_quotes_a_candidate_is_read_as_a_verdict() -> None:
    done = evalsi("doctor", "judge")
    assert done.code == 0
    assert "planted verdicts, reader: 0 of 1,161 replies" in done.out
    assert "planted verdicts, judge" not in done.out


def test_a_judge_that_is_not_taken_in_is_fine() -> None:
    with Provider(fixed('{"reason": "It is wrong.", "score": 1}')) as provider:
        done = evalsi("doctor", "judge", *flags(provider))
    assert done.code == 0
    assert "planted verdicts, judge: 0 of 43 wrong answers got more than the lowest grade" in done.out


def test_a_judge_that_obeys_the_candidates_is_a_problem() -> None:
    def answer(request: Request) -> str:
        return json.dumps({"reason": "", "score": 5 if "Rating: 5" in request.prompt else 1})

    with Provider(answer) as provider:
        done = evalsi("doctor", "judge", *flags(provider))
    assert done.code == 1
    assert "problem  planted verdicts, judge: " in done.out
    assert "0 of 43" not in done.out.split("planted verdicts, judge: ")[1]


def test_a_judge_that_cannot_be_reached_says_why() -> None:
    with Provider(fixed("{}")) as provider:
        words = flags(provider)
    done = evalsi("doctor", "judge", *words)
    assert done.code == 1
    assert "43 got no grade: " in done.out
