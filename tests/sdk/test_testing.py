"""Test the test harness for evaluators, in process and through a session in memory."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalsi import Context, Output, ParamError, Record, Score, Skip, evaluator
from evalsi.loading import LoadError
from evalsi.testing import Outcome, PackRefused, WrongOutcome, aggregate, run_pack, score, score_all

PLEASE, NO, EMPTY = Record(output="Yes, please."), Record(output="No."), Record(input="?")
FILE = """\
from evalsi import Record, evaluator

@evaluator(name="acme/polite")
def polite(record: Record) -> bool:
    return "please" in record.output.as_text()
"""


@evaluator(name="acme/polite")
def polite(record: Record, *, word: str = "please") -> Score:
    """Says please."""
    return Score(passed=word in record.output.as_text())


@evaluator
async def waits(record: Record, *, of: float = 1.0) -> float:
    """Scores asynchronously."""
    await asyncio.sleep(0)
    return len(record.output.as_text()) / of


@evaluator(asks=["judge"])
async def judged(record: Record, ctx: Context) -> str:
    """Asks a judge."""
    answer = await ctx.ask("judge.ask", {"text": record.output.as_text()})
    return str(answer["verdict"])


@evaluator(name="matches")
class Matches:
    """Refuses an empty word."""

    def __init__(self, word: str) -> None:
        if not word:
            raise ParamError("word", "it is empty")
        self.word = word

    def score(self, record: Record) -> bool:
        return self.word in record.output.as_text()


@evaluator(name="mean-length", scope="dataset", outputs=[Output(unit="characters", minimum=0)])
class MeanLength:
    """The mean length of the outputs."""

    def observe(self, record: Record) -> tuple[int, int]:
        text = record.output.as_text()
        if text == "raise":
            raise RuntimeError("no such luck")
        return len(text), 1

    def combine(self, totals: list[float]) -> float:
        return totals[0] / totals[1]


def several(record: Record) -> list[Score]:
    return [Score(name="a", value=1), Score(name="b", label="x")]


def brief(record: Record) -> str:
    return "short"


def failing(record: Record) -> bool:
    raise RuntimeError("no such luck")


def nan(record: Record) -> float:
    return float("nan")


def skipping(record: Record) -> bool:
    raise Skip("only in spring")


def with_an_object(record: Record) -> Score:
    return Score(value=1, metadata={"object": object()})


# -- outcomes ---------------------------------------------------------------------------------------------------------


def test_a_scored_outcome_gives_its_only_score_and_its_verdict() -> None:
    outcome = score(polite, PLEASE)
    assert (outcome.kind, outcome.score, outcome.passed) == ("scored", Score(passed=True), True)
    assert score(waits, NO).value == 3.0
    assert score(brief, NO).label == "short"
    assert repr(outcome) == "<scored: Score(passed=True)>"


def test_scores_are_found_by_name_where_there_are_several() -> None:
    outcome = score(several, NO)
    assert (outcome["a"].value, outcome["b"].label) == (1.0, "x")
    with pytest.raises(WrongOutcome, match="The outcome has no score 'c': <scored: "):
        _ = outcome["c"]
    with pytest.raises(WrongOutcome, match="The outcome does not have exactly one score: <scored: "):
        _ = outcome.score


@pytest.mark.parametrize("verdict", ["value", "label"])
def test_a_verdict_of_another_kind_fails_the_test_that_asks_for_it(verdict: str) -> None:
    with pytest.raises(WrongOutcome, match=rf"The outcome has no {verdict}: <scored: Score\(passed=False\)>"):
        getattr(score(polite, NO), verdict)


@pytest.mark.parametrize("evaluated", [polite, failing, skipping])
def test_an_outcome_without_a_score_never_reads_as_a_fail(evaluated: Any) -> None:
    with pytest.raises(WrongOutcome, match=r"The outcome does not have exactly one score: <(skipped|error)"):
        _ = score(evaluated, EMPTY).passed


def test_a_skipped_outcome_has_a_reason() -> None:
    assert score(polite, EMPTY) == Outcome("skipped", reason="record has no output")
    assert repr(score(skipping, NO)) == "<skipped: only in spring>"


def test_a_failed_outcome_has_an_error_that_names_the_exception() -> None:
    error = score(failing, NO).error
    assert error is not None
    assert (error.code, error.message) == ("pack.evaluator_raised", "failing raised RuntimeError: no such luck")
    assert repr(score(nan, NO)).startswith("<error pack.bad_score: nan: value is nan")


# -- in process -------------------------------------------------------------------------------------------------------


def test_params_are_given_by_name_and_checked() -> None:
    assert score(polite, NO, word="No").passed
    assert score(Matches, NO, word="No").passed
    with pytest.raises(TypeError, match="has no param 'words'"):
        score(polite, NO, words="No")
    with pytest.raises(TypeError, match="needs the param 'word'"):
        score(Matches, NO)
    with pytest.raises(ParamError, match="word: it is empty"):
        score(Matches, NO, word="")


def test_a_param_may_be_named_like_an_argument_of_the_harness() -> None:
    def named(record: Record, *, evaluator: str, records: int) -> str:
        return f"{evaluator} {records}"

    assert score(named, NO, evaluator="x", records=2).label == "x 2"


def test_records_are_scored_in_order_by_one_opened_evaluator() -> None:
    opened = []

    @evaluator(name="counts")
    class Counts:
        """Counts how often it is built."""

        def __init__(self) -> None:
            opened.append(self)

        def score(self, record: Record) -> bool:
            return record.has("output")

    assert [outcome.passed for outcome in score_all(Counts, [PLEASE, EMPTY, NO])] == [True, False, True]
    assert len(opened) == 1


def test_an_asynchronous_evaluator_is_scored_also_where_a_loop_runs() -> None:
    async def in_a_loop() -> Outcome:
        return score(waits, PLEASE)

    assert score(waits, PLEASE, of=2).value == 6.0
    assert asyncio.run(in_a_loop()).value == 12.0


def test_an_evaluator_is_found_by_module_and_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "harness_evals.py"
    path.write_text(FILE, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for where in (str(path), f"{path}:polite", f"{path}:acme/polite", "harness_evals", "harness_evals:polite"):
        assert score(where, PLEASE).passed
    with pytest.raises(LoadError, match="has no 'tone'"):
        score(f"{path}:tone", PLEASE)
    path.write_text(FILE + FILE.replace("polite", "politer"), encoding="utf-8")
    with pytest.raises(LoadError, match=r"has several evaluators: acme/polite, acme/politer. Name one: "):
        score(str(path), PLEASE)


def test_an_ask_of_the_kernel_is_not_bound_in_process() -> None:
    error = score(judged, PLEASE).error
    assert error is not None
    assert (error.code, error.message) == ("capability.not_bound", "Nothing answers 'judge.ask' here.")


def test_a_dataset_scope_evaluator_gives_one_outcome_and_leaves_out_what_it_skips() -> None:
    assert aggregate(MeanLength, [PLEASE, EMPTY, NO]).value == 7.5
    assert aggregate(MeanLength, [EMPTY]).kind == "skipped"
    assert aggregate(MeanLength, []).reason == "no record could be observed"


def test_a_record_on_which_an_aggregate_fails_is_not_overlooked() -> None:
    assert repr(aggregate(MeanLength, [PLEASE, Record(output="raise")])).startswith("<error pack.evaluator_raised")


def test_the_harness_tells_which_of_its_functions_fits_the_scope() -> None:
    with pytest.raises(TypeError, match=r"mean-length has dataset scope. Use evalsi.testing.aggregate"):
        score(MeanLength, NO)
    with pytest.raises(TypeError, match=r"acme/polite has record scope. Use evalsi.testing.score"):
        aggregate(polite, [NO])


# -- through a session ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("evaluated", "params"),
    [
        (polite, {}),
        (polite, {"word": "No"}),
        (waits, {"of": 2.0}),
        (several, {}),
        (failing, {}),
        (nan, {}),
        (skipping, {}),
    ],
    ids=lambda one: one.__name__ if callable(one) else str(one),
)
def test_a_session_gives_the_outcomes_that_the_process_gives(evaluated: Any, params: dict[str, Any]) -> None:
    name = "acme/polite" if evaluated is polite else evaluated.__name__
    records = [PLEASE, NO, EMPTY] * 50
    run = run_pack([evaluated], name, records, params)
    assert run.outcomes == score_all(evaluated, records, **params)
    assert run.whole is None


def test_a_session_aggregates_states_that_have_travelled() -> None:
    run = run_pack([MeanLength], "mean-length", [PLEASE, EMPTY, NO])
    assert [outcome.kind for outcome in run.outcomes] == ["state", "skipped", "state"]
    assert run.outcomes[0].state == [12, 1]
    assert run.whole is not None
    assert run.whole.value == 7.5


def test_what_cannot_travel_is_an_error_of_its_record() -> None:
    [outcome] = run_pack([with_an_object], "with_an_object", [NO]).outcomes
    assert outcome.error is not None
    assert outcome.error.code == "pack.bad_score"
    assert "cannot be sent" in outcome.error.message


@pytest.mark.parametrize("where", ["explanation", "label", "name"])
def test_half_of_a_surrogate_pair_costs_its_record_and_not_the_session(where: str) -> None:
    def escaped(record: Record) -> Score:
        text = "\ud800" if record.output == PLEASE.output else "fine"
        return Score(**{"value": 1.0, where: text} if where != "label" else {"label": text})

    before, hit, after = run_pack([escaped], "escaped", [NO, PLEASE, NO]).outcomes
    assert (before.kind, hit.kind, after.kind) == ("scored", "error", "scored")
    assert hit.error is not None
    assert hit.error.source == "pack"
    assert "surrogates not allowed" in hit.error.message


def test_half_of_a_surrogate_pair_in_what_is_raised_is_told_in_another_form() -> None:
    def raises(record: Record) -> bool:
        raise ValueError("no such letter: \ud800")

    [outcome] = run_pack([raises], "raises", [NO]).outcomes
    assert outcome.error is not None
    assert outcome.error.code == "pack.evaluator_raised"
    outcome.error.message.encode()


def test_an_ask_is_answered_by_the_test() -> None:
    asked = []

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        asked.append(body)
        return {"verdict": "fine"}

    [outcome] = run_pack([judged], "judged", [NO], answers={"judge.ask": answer}).outcomes
    assert outcome.label == "fine"
    assert asked == [{"text": "No."}]


def test_an_ask_that_nothing_answers_is_the_kernel_s_own_error() -> None:
    [outcome] = run_pack([judged], "judged", [NO]).outcomes
    assert outcome.error is not None
    assert outcome.error.code == "capability.not_bound"


def test_an_answer_that_fails_fails_the_test() -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        raise LookupError("no such answer")

    with pytest.raises(LookupError, match="no such answer"):
        run_pack([judged], "judged", [NO], answers={"judge.ask": answer})


def test_a_pack_is_found_by_module_and_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "session_evals.py"
    path.write_text(FILE, encoding="utf-8")
    assert run_pack(str(path), "acme/polite", [PLEASE]).outcomes[0].passed
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert run_pack("session_evals", "acme/polite", [PLEASE]).outcomes[0].passed
    assert run_pack(sys.modules["session_evals"], "acme/polite", [PLEASE]).outcomes[0].passed


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (lambda: run_pack("nowhere_at_all", "x", []), "pack.import: There is no module 'nowhere_at_all'"),
        (lambda: run_pack([polite], "rude", []), "config.unknown_evaluator: .*'rude'. Choose from acme/polite"),
        (lambda: run_pack([Matches], "matches", [], {"word": ""}), "config.param: matches.word: it is empty"),
        (lambda: run_pack([polite], "acme/polite", [], {"words": 1}), "config.param: .*no param 'words'"),
    ],
    ids=["module", "evaluator", "value", "param"],
)
def test_a_pack_that_refuses_is_told_with_the_error_of_the_wire(run: Callable[[], Any], why: str) -> None:
    with pytest.raises(PackRefused, match=why) as caught:
        run()
    assert caught.value.error.code in str(caught.value)


def test_a_pack_that_hangs_ends_the_test_in_time() -> None:
    release = threading.Event()

    def hangs(record: Record) -> bool:
        return release.wait(timeout=30)

    with pytest.raises(TimeoutError, match=r"did not answer within 0.05 s. Correct it, or pass a longer timeout_s"):
        run_pack([hangs], "hangs", [NO], timeout_s=0.05)
    release.set()


def test_the_evaluator_of_a_session_is_given_by_name() -> None:
    with pytest.raises(TypeError, match="Pass its name: 'acme/polite'"):
        run_pack([polite], polite, [NO])  # type: ignore[arg-type]
