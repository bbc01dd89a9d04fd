"""Fallbacks of a target: who answered is said, paid for as its own price says, and no fault of ours is hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.broker.retries import RetryPolicy
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.target import Generated, Target
from evalsi_targets.fallback_keys import MOST_TRIES
from tests.cli.running import evalsi
from tests.providers import KEY, Answer, Provider, Request, faults
from tests.runs.running import MODEL_KEY, executed, model_of, records, results, run, write_spec
from tests.targets.asking import ask, failure, problems, with_target
from tests.targets.running_here import outcomes, run_here

FIRST, SECOND, THIRD = "claude-opus-5-5", "claude-opus-5", "claude-fable-5"
"""Models whose prices come along: 4 and 20, 5 and 25, 10 and 50 USD for a million tokens."""
MILLION = 1_000_000


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODEL_KEY, KEY)


def target_of(vendor: Provider, *fallbacks: dict[str, Any], **more: Any) -> dict[str, Any]:
    more = {"fallback_after": 1, **more}
    where = {"connector": "anthropic", "model": FIRST, "base_url": vendor.root_url}
    return model_of(vendor, **where, fallbacks=list(fallbacks) or [{"model": SECOND}], **more)


def failing(*models: str, fault: faults.Fault | None = None) -> Callable[[Request], Any]:
    """A vendor whose models these fail; the others answer Lisbon, in tokens that are easy to count."""

    def answer(request: Request) -> Any:
        if request.model in models:
            return fault or faults.server_error(503)
        return Answer("Lisbon", input_tokens=1000, output_tokens=100)

    return answer


def asked_models(vendor: Provider) -> list[str]:
    return [str(request.model) for request in vendor.requests]


def options(vendor: Provider, *fallbacks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {name: value for name, value in target_of(vendor, *fallbacks, **more).items() if name != "connector"}


# -- who answers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        faults.rate_limited(),
        faults.overloaded(),
        faults.server_error(500),
        faults.close_before_answer(),
        faults.truncated_json(),
        faults.missing_choices(),
        faults.html_page(503),
    ],
    ids=str,
)
def test_what_may_pass_moves_a_call_on_and_the_answer_says_whose_it_is(tmp_path: Path, fault: Any) -> None:
    with Provider(failing(FIRST, fault=fault), models=None) as vendor:
        end, found = run_here(write_spec(tmp_path, target_of(vendor), records(2)))
        assert asked_models(vendor).count(SECOND) == 2
    assert end.state == "succeeded"
    assert outcomes(found) == ["scored", "scored"]
    for record in found["records"]:
        assert (record["output"], record["metadata"]["fallback"]) == ("Lisbon", SECOND)
        assert record["provenance"]["run"]["model"] == SECOND
    assert found["manifest"]["target_usage"]["by_fallbacks"] == 2
    assert found["manifest"]["target"]["fallbacks"][0]["model"] == SECOND


def test_where_the_first_model_answers_no_other_is_asked_or_named(tmp_path: Path) -> None:
    with Provider(failing(), models=None) as vendor:
        _, found = run_here(write_spec(tmp_path, target_of(vendor), records(2)))
        assert asked_models(vendor) == [FIRST, FIRST]
    assert "by_fallbacks" not in found["manifest"]["target_usage"]
    assert all("fallback" not in record.get("metadata", {}) for record in found["records"])


@pytest.mark.parametrize("plan", [faults.cut_text(), faults.refusal(), faults.empty_content()], ids=str)
def test_a_refusal_and_a_cut_or_empty_reply_are_the_first_model_s_answers(tmp_path: Path, plan: Any) -> None:
    with Provider(failing(FIRST, fault=plan), models=None) as vendor:
        _, found = run_here(write_spec(tmp_path, target_of(vendor), records(1)))
        assert asked_models(vendor) == [FIRST]
    assert outcomes(found) == ["scored"]


def test_a_model_is_tried_as_often_as_the_spec_says_before_the_next(tmp_path: Path) -> None:
    with Provider(failing(FIRST), models=None) as vendor:
        run_here(write_spec(tmp_path, target_of(vendor, fallback_after=2), records(1)))
        assert asked_models(vendor) == [FIRST, FIRST, SECOND]


def test_the_next_call_begins_with_the_first_model_again(tmp_path: Path) -> None:
    async def used(target: Target) -> list[Generated]:
        await failure(ask(target))
        return [await ask(target), await ask(target)]

    answers: Iterator[Any] = iter([faults.server_error(), "from the second", "from the first"])
    with Provider(lambda _: next(answers), models=None) as vendor:
        made = with_target("anthropic", tmp_path, used, **options(vendor))
        assert asked_models(vendor) == [FIRST, SECOND, FIRST]
    assert [one.fallback for one in made] == [1, 0]


def test_fallbacks_are_asked_in_their_order_and_the_last_one_is_tried_again(tmp_path: Path) -> None:
    seen: list[str] = []

    def answer(request: Request) -> Any:
        seen.append(str(request.model))
        return faults.server_error() if len(seen) <= 3 else "Lisbon"

    with Provider(answer, models=None) as vendor:
        target = target_of(vendor, {"model": SECOND}, {"model": THIRD})
        _, found = run_here(write_spec(tmp_path, target, records(1)))
    assert seen == [FIRST, SECOND, THIRD, THIRD]
    assert found["records"][0]["metadata"]["fallback"] == THIRD


def test_a_model_that_wants_to_be_left_alone_for_long_is_not_waited_for(tmp_path: Path) -> None:
    with Provider(failing(FIRST, fault=faults.rate_limited(3600)), models=None) as vendor:
        end, _ = run_here(write_spec(tmp_path, target_of(vendor, fallback_after=3), records(1)))
        assert asked_models(vendor) == [FIRST, SECOND]
    assert end.state == "succeeded"


def test_addresses_where_nobody_answers_are_passed_by_and_the_last_one_ends_the_run(tmp_path: Path) -> None:
    nobody = {"model": "m", "base_url": "http://127.0.0.1:1", "api_key_env": "none"}
    with Provider(failing(), models=None) as vendor:
        where = {"base_url": vendor.root_url, "api_key_env": MODEL_KEY}
        target = target_of(vendor, nobody, {"model": THIRD, **where}, fallback_after=2) | nobody
        end, found = run_here(write_spec(tmp_path, target, records(1)))
    assert end.state == "succeeded", end.reason
    assert found["records"][0]["metadata"]["fallback"] == THIRD
    (tmp_path / "none").mkdir()
    end, _ = run_here(write_spec(tmp_path / "none", target_of(vendor, nobody) | nobody, records(1)))
    assert end.state == "error"
    assert "Nothing listens at the address of anthropic at http://127.0.0.1:1" in end.reason


def test_no_more_tries_are_planned_than_a_run_makes() -> None:
    assert RetryPolicy().max_tries == MOST_TRIES


# -- what is not hidden --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (faults.unauthorized(), "provider.auth"),
        (faults.forbidden(), "provider.auth"),
        (faults.not_found(), "provider.not_found"),
        (faults.quota_exhausted(), "provider.quota"),
    ],
)
@pytest.mark.parametrize("wrong", [FIRST, SECOND])
def test_a_wrong_key_or_name_ends_the_run_whoever_has_it(tmp_path: Path, fault: Any, code: str, wrong: str) -> None:
    def answer(request: Request) -> Any:
        if request.model == wrong:
            return fault
        return faults.server_error() if request.model == FIRST else "Lisbon"

    with Provider(answer, models=None) as vendor:
        end, found = run_here(write_spec(tmp_path, target_of(vendor, max_concurrency=1), records(4)))
        assert asked_models(vendor) == ([FIRST] if wrong == FIRST else [FIRST, SECOND])
    assert end.state == "error"
    assert end.evaluation.error is not None
    assert end.evaluation.error.code == code
    assert ("The fallback claude-opus-5: " in end.reason) == (wrong == SECOND)
    assert not found["summaries"] or found["summaries"][0]["n"] == 0


def test_a_request_that_is_refused_is_an_error_of_its_record_and_nobody_else_is_asked(tmp_path: Path) -> None:
    with Provider(failing(FIRST, fault=faults.bad_request()), models=None) as vendor:
        _, found = run_here(write_spec(tmp_path, target_of(vendor), records(2)))
        assert asked_models(vendor) == [FIRST, FIRST]
    assert outcomes(found) == ["provider.bad_request"] * 2


def test_a_key_that_a_fallback_lacks_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    with Provider(failing(), models=None) as vendor:
        write_spec(tmp_path, target_of(vendor, {"model": SECOND, "api_key_env": "NO_SUCH_KEY"}))
        with pytest.raises(ConfigError, match="NO_SUCH_KEY") as caught:
            executed(tmp_path)
        assert vendor.calls == 0
    assert caught.value.code == "config.no_key"


# -- what it costs -------------------------------------------------------------------------------------------------


def test_an_answer_costs_what_the_model_costs_that_gave_it(tmp_path: Path) -> None:
    def answer(request: Request) -> Any:
        if request.model == FIRST and "Question 1?" in request.prompt:
            return faults.server_error()
        return Answer("Lisbon", input_tokens=1000, output_tokens=100)

    with Provider(answer, models=None) as vendor:
        _, found = run_here(write_spec(tmp_path, target_of(vendor), records(2)))
    costs = [record["usage"]["cost_usd"] * MILLION for record in found["records"]]
    assert costs == pytest.approx([1000 * 4 + 100 * 20, 1000 * 5 + 100 * 25])
    usage = found["manifest"]["target_usage"]
    assert usage["cost_usd"] * MILLION == pytest.approx(sum(costs))
    assert (usage["calls"], usage["by_fallbacks"]) == (3, 1)


def test_the_budget_sets_aside_what_the_dearest_of_them_may_cost(tmp_path: Path) -> None:
    with Provider(failing(FIRST), models=None) as vendor:
        target = target_of(vendor, {"model": THIRD}, max_tokens=1000)
        # Enough for a reply of the first, and not for one of the fallback.
        write_spec(tmp_path, target, records(1), budget={"max_target_usd": 0.03})
        end = executed(tmp_path)
        assert vendor.calls == 0
    assert end.state == "error"
    assert "budget" in end.reason.lower()


def test_a_dry_run_counts_with_the_dearest_of_them(tmp_path: Path) -> None:
    with Provider(failing(), models=None) as vendor:
        write_spec(tmp_path, target_of(vendor, {"model": THIRD}, max_tokens=1000), records(1))
        dear = run(tmp_path, "--dry-run", "--format", "json")
        write_spec(tmp_path, model_of(vendor, connector="anthropic", model=THIRD, max_tokens=1000), records(1))
        alone = run(tmp_path, "--dry-run", "--format", "json")
        assert vendor.calls == 0
    assert dear.out == alone.out


# -- what is kept --------------------------------------------------------------------------------------------------


def test_what_a_fallback_answered_is_kept_as_its_answer_when_the_run_goes_on(tmp_path: Path) -> None:
    seen: list[str] = []

    def answer(request: Request) -> Any:
        seen.append(str(request.model))
        if "Question 0?" in request.prompt:
            return faults.server_error() if request.model == FIRST else "Lisbon"
        return faults.unauthorized() if len(seen) < 4 else "Lisbon"

    with Provider(answer, models=None) as vendor:
        write_spec(tmp_path, target_of(vendor, max_concurrency=1), records(2))
        assert executed(tmp_path).state == "error"
        assert seen == [FIRST, SECOND, FIRST]
        assert executed(tmp_path).kept == 1
        assert seen == [FIRST, SECOND, FIRST, FIRST]
    first, second = results(tmp_path)["records"]
    assert (first["provenance"]["run"]["model"], first["metadata"]["fallback"]) == (SECOND, SECOND)
    assert second["provenance"]["run"]["model"] == FIRST


def test_a_run_does_not_go_on_with_other_fallbacks(tmp_path: Path) -> None:
    with Provider(failing(FIRST, fault=faults.unauthorized()), models=None) as vendor:
        write_spec(tmp_path, target_of(vendor), records(2))
        executed(tmp_path)
        write_spec(tmp_path, target_of(vendor, {"model": THIRD}), records(2))
        with pytest.raises(ConfigError) as caught:
            executed(tmp_path)
    assert caught.value.code == "run.changed"


def test_the_command_says_how_many_answers_are_another_s(tmp_path: Path) -> None:
    with Provider(failing(FIRST), models=None) as vendor:
        write_spec(tmp_path, target_of(vendor), records(2))
        done = run(tmp_path, "--quiet")
    assert done.code == 0, done.err
    assert "target: 4 calls, 2 answered by fallbacks" in done.out
    for form, told in (("md", "answered by fallbacks"), ("json", "by fallbacks"), ("html", "answered by fallbacks")):
        report = evalsi("report", "run-1", "--format", form, "-o", "-", cwd=tmp_path)
        assert report.code == 0, report.err
        assert told in report.out


# -- what a fallback takes over ------------------------------------------------------------------------------------


def test_it_is_asked_the_same_question_and_its_own_keys_go_before(tmp_path: Path) -> None:
    with Provider(failing(FIRST), models=None) as vendor:
        asking = {"system_prompt": "Be brief.", "max_tokens": 50, "temperature": 0.5, "effort": "low"}
        target = target_of(vendor, {"model": SECOND, "effort": "high"}, **asking)
        run_here(write_spec(tmp_path, target, records(1)))
        first, second = vendor.requests
    assert first.body["output_config"] == {"effort": "low"}
    assert second.body["output_config"] == {"effort": "high"}
    same = ("system", "messages", "max_tokens", "temperature")
    assert [second.body[name] for name in same] == [first.body[name] for name in same]


def test_one_of_another_connector_takes_over_the_question_and_no_word_of_the_provider(tmp_path: Path) -> None:
    with Provider(failing(FIRST), models=None) as vendor:
        other = {"connector": "openai-compatible", "model": "m", "base_url": vendor.base_url, "api_key_env": MODEL_KEY}
        target = target_of(vendor, other, thinking="adaptive", effort="low", system_prompt="Be brief.")
        _, found = run_here(write_spec(tmp_path, target, records(1)))
        body = vendor.requests[-1].body
    assert found["records"][0]["metadata"]["fallback"] == "m"
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert body["max_tokens"] == 64
    assert not {"thinking", "reasoning_effort", "output_config"} & body.keys()


def test_a_fallback_may_have_another_time_in_either_form(tmp_path: Path) -> None:
    def answer(request: Request) -> Any:
        return faults.hang() if request.model == FIRST else "Lisbon"

    for first, second in (({"timeout": "100ms"}, {"timeout_s": 30.0}), ({"timeout_s": 0.1}, {"timeout": "30s"})):
        with Provider(answer, models=None) as vendor:
            target = target_of(vendor, {"model": SECOND, **second}, **first)
            end, _ = run_here(write_spec(tmp_path, target, records(1)))
            # Where the machine is slow the first one's time is over before its vendor hears of it.
            assert asked_models(vendor) in ([FIRST, SECOND], [SECOND])
        assert end.state == "succeeded"


def test_a_key_goes_to_the_address_that_it_was_given_for_alone(tmp_path: Path) -> None:
    with Provider(failing(FIRST), models=None) as vendor, Provider(failing(), models=None, keys=None) as stranger:
        run_here(write_spec(tmp_path, target_of(vendor, {"model": "m", "base_url": stranger.root_url}), records(1)))
        assert [request.key for request in vendor.requests] == [KEY]
        assert [request.key for request in stranger.requests] == [None]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"fallbacks": [{}]}, "spec.target.fallbacks[0].model is missing"),
        ({"fallbacks": [{"model": "m", "temprature": 1}]}, "fallbacks[0].temprature is not a known key"),
        ({"fallbacks": [{"model": "m", "max_concurrency": 1}]}, "fallbacks[0].max_concurrency is not a known key"),
        ({"fallbacks": [{"model": "m", "fallbacks": []}]}, "spec.target.fallbacks[0] has fallbacks of its own"),
        ({"fallbacks": [{"model": "m", "thinking": "adaptive"}]}, "fallbacks[0] has thinking, which is a key of anth"),
        ({"fallbacks": [{"model": "m"}], "fallback_after": 0}, "spec.target.fallback_after"),
        ({"fallbacks": [{"model": "m"}] * 3}, "has 3 fallbacks, of which not all would be asked"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(more: dict[str, Any], told: str) -> None:
    found = problems("openai-compatible", model="first", **more)
    assert any(told in one for one in found), found
