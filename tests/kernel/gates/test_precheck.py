"""Gates are checked before anything is paid for: one error tells all that is wrong, each with its place and a hint."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.extensions.hook_calls import condition_language, read_baseline
from evalsi_kernel.extensions.installed import Extensions, default_extensions, load_extensions
from evalsi_kernel.gates.baseline import Baseline, BaselineReader
from evalsi_kernel.gates.conditions import ConditionLanguage
from evalsi_kernel.gates.precheck import GatePlan, plan_gates
from evalsi_kernel.gates.spec import GateSpec
from evalsi_kernel.gates.verdicts import applying, judge_gates
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import EvaluatorInfo, OutputInfo
from tests.kernel.gates.gate_parts import gate, numbers


def instance(name: str, *outputs: OutputInfo, called: str | None = None) -> Instance:
    return Instance(1, called or name, EvaluatorInfo(name, "core", "1", outputs=outputs))


EXACT = instance("exact-match", OutputInfo("", "pass"))
JUDGE = instance("judge", OutputInfo("", "number", minimum=0, maximum=1), OutputInfo("tone", "label"))
COUNT = instance("words", OutputInfo("", "number"), called="length")
OPEN = instance("mine")


def installed(path: Path, name: str, paired: Collection[str]) -> Baseline:
    return read_baseline(default_extensions(), path, name, paired)


def planned(
    *gates: GateSpec,
    trials: int = 1,
    folder: Path = Path(),
    more: tuple[Instance, ...] = (),
    baseline: BaselineReader = installed,
) -> GatePlan:
    instances, language = (EXACT, JUDGE, COUNT, *more), language_of(Extensions())
    return plan_gates(gates, instances, trials=trials, folder=folder, language=language, baseline=baseline)


def language_of(extensions: Extensions) -> Callable[[], ConditionLanguage]:
    return lambda: condition_language(extensions)


def refusal(*gates: GateSpec, **keys: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        planned(*gates, **keys)
    assert caught.value.code == "config.gate"
    return caught.value


def test_a_misspelt_metric_is_found_with_the_nearest_and_all_there_are() -> None:
    error = refusal(gate("exat-match", min=0.9))

    assert error.message == 'gates: spec.gates[0].metric is "exat-match", which no evaluator of the run gives.'
    assert error.hint == 'Did you mean "exact-match"? There are: exact-match, judge, tone, length.'


def test_all_problems_are_told_at_once_with_their_places(tmp_path: Path) -> None:
    error = refusal(
        gate("exact-match", min=0.9),
        gate("exat-match", min=0.9),
        gate("tone", min=0.5),
        gate("exact-match.pass@3", min=0.5),
        gate("exact-match", baseline="main.json", max_drop=0),
        folder=tmp_path,
    )

    assert error.message.startswith("gates: 4 problems:\n")
    places = [one["at"] for one in error.details["problems"]]
    assert places == ["spec.gates[1].metric", "spec.gates[2].stat", "spec.gates[3].metric", "spec.gates[4].baseline"]


def test_a_metric_has_the_name_that_the_run_gives_it() -> None:
    assert planned(gate("length", min=1)).ranges == {"exact-match": (0.0, 1.0), "judge": (0.0, 1.0)}
    assert "length" in refusal(gate("words", min=1)).hint


def test_pass_at_k_is_there_for_what_passes_or_fails_in_as_many_trials() -> None:
    names = ["exact-match.pass@3", "exact-match.pass^3", "exact-match.pass@2", "judge.pass@2"]
    plan = planned(*[gate(name, min=0.5) for name in names], trials=3)

    assert {name: plan.ranges[name] for name in names} == dict.fromkeys(names, (0.0, 1.0))
    too_many = refusal(gate("exact-match.pass@4", min=0), trials=3)
    assert "needs 4 trials of each record, and the run has 3" in too_many.message
    assert "neither passes nor fails a trial" in refusal(gate("length.pass@2", min=0), trials=3).message
    assert "exact-match.pass@3" in refusal(gate("exact-match.pas@3", min=0), trials=3).hint


def test_pass_at_k_is_known_for_all_records_together_and_by_one_convention() -> None:
    other = refusal(gate("exact-match.pass@3 (errors as failures)", min=0), trials=3)
    assert other.hint == "Gate on exact-match.pass@3."
    assert "for all records together" in refusal(gate("exact-match.pass@3", min=0, slice="tier"), trials=3).message


def test_a_label_can_be_counted_but_has_no_mean() -> None:
    assert planned(gate("tone", min=5, stat="n")).gates[0].metric == "tone"
    assert "is a label, which has no mean" in refusal(gate("tone", min=5, stat="lower")).message


def test_what_a_users_own_file_may_give_is_a_warning() -> None:
    plan = planned(gate("mine.depth", min=1), gate("exact-match", min=1), more=(OPEN,))

    [warning] = plan.warnings
    assert warning.startswith(
        'spec.gates[0].metric is "mine.depth", which no evaluator declares; if none gives it either'
    )
    assert planned(gate("exact-match", min=1), more=(OPEN,)).warnings == ()


def baseline_in(folder: Path, **members: Any) -> None:
    manifest = {
        "dataset": {"sha256": None, "records": 1},
        "evaluators": [],
        "summary": {"confidence_level": 0.95},
    }
    summaries = [numbers(0.5, metric="exact-match").to_dict()]
    whole = {"schema_version": 1, "manifest": manifest, "summaries": summaries, "results": [], "records": [], **members}
    (folder / "main.json").write_text(json.dumps(whole), "utf-8")


def test_a_baseline_is_read_once_from_the_folder_of_the_spec(tmp_path: Path) -> None:
    baseline_in(tmp_path)
    compare = gate("exact-match", baseline="main.json", max_drop=0)

    plan = planned(compare, compare, folder=tmp_path)

    assert list(plan.baselines) == ["main.json"]
    assert plan.baselines["main.json"].side.means["exact-match"].mean == 0.5
    assert plan.paired_metrics == set()


def test_a_baseline_that_cannot_be_used_is_told_once(tmp_path: Path) -> None:
    compare = gate("exact-match", baseline="main.json", max_drop=0)

    error = refusal(compare, compare, folder=tmp_path)

    place, why = "gates: spec.gates[0].baseline", "The baseline main.json cannot be read: No such file or directory."
    assert error.message == f"{place} cannot be used: {why}"


def test_without_anything_that_reads_baselines_the_gate_says_what_to_install(tmp_path: Path) -> None:
    baseline_in(tmp_path)
    compare = gate("exact-match", baseline="main.json", max_drop=0)

    error = refusal(compare, compare, folder=tmp_path, baseline=partial(read_baseline, Extensions()))

    assert error.message == "gates: spec.gates[0].baseline cannot be used: No installed extension reads baselines."
    assert error.hint == "Install it: pip install 'evalsi-comparison'"


def test_a_baseline_must_hold_the_metric_and_the_slices(tmp_path: Path) -> None:
    baseline_in(tmp_path)

    error = refusal(gate("judge", baseline="main.json", max_drop=0), folder=tmp_path)
    assert 'is main.json, which has no metric "judge"' in error.message
    assert error.hint == "There are: exact-match."
    error = refusal(gate("exact-match", baseline="main.json", max_drop=0, slice="tier"), folder=tmp_path)
    assert error.hint == "Make it with summary.slice_by: [tier]."


def test_a_plan_knows_what_the_run_has_to_collect(tmp_path: Path) -> None:
    baseline_in(tmp_path)
    plan = planned(
        gate("exact-match", min=0, slice="tier"),
        gate("exact-match", min=0, slice={"tier": "gold"}),
        gate("exact-match", min=0, slice="lang"),
        gate("exact-match", baseline="main.json", max_drop=0, significant=True),
        folder=tmp_path,
    )

    assert plan.slice_keys == ["tier", "lang"]
    assert plan.paired_metrics == {"exact-match"}
    assert len(plan.baselines["main.json"].side.values["exact-match"]) == 0


def test_a_condition_is_compiled_over_the_names_of_a_manifest(tmp_path: Path) -> None:
    language = language_of(load_extensions(tmp_path))
    spec = gate("exact-match", min=0, when='source.branch == "main" && trials >= 2')

    plan = plan_gates(
        [spec, gate("exact-match", min=0)], [EXACT], trials=2, folder=tmp_path, language=language, baseline=installed
    )

    first, second = plan.conditions
    assert first is not None
    assert second is None
    assert first.holds({"source": {"branch": "main"}, "trials": 3})
    assert not first.holds({"source": {"branch": "main"}, "trials": 1})


def test_a_condition_on_the_branch_can_be_told_where_nobody_knows_the_branch(tmp_path: Path) -> None:
    spec = gate("exact-match", min=0, when='source.branch == "release"')
    language = language_of(load_extensions(tmp_path))
    plan = plan_gates([spec], [EXACT], trials=1, folder=tmp_path, language=language, baseline=installed)

    assert applying(plan, {}) == [None]
    assert applying(plan, {"source": {"commit": "abc"}}) == [None]
    assert applying(plan, {"source": {"branch": "release"}}) == [spec]


def test_a_condition_that_cannot_be_read_is_one_of_the_problems(tmp_path: Path) -> None:
    specs = [gate("exact-match", min=0, when="trails > 2"), gate("nothing", min=0)]

    language = language_of(load_extensions(tmp_path))
    with pytest.raises(ConfigError) as caught:
        plan_gates(specs, [EXACT], trials=2, folder=tmp_path, language=language, baseline=installed)

    assert "gates[0].when cannot be used: The condition `trails > 2` cannot be read" in caught.value.message
    assert 'Did you mean "trials"?' in caught.value.message
    assert "gates[1].metric" in caught.value.message


def test_without_anything_that_reads_conditions_one_error_says_what_to_install() -> None:
    with pytest.raises(ConfigError) as caught:
        planned(gate("exact-match", min=0, when="true"))

    assert caught.value.code == "config.no_extension"
    assert "pip install 'evalsi-cel'" in caught.value.hint


def test_an_empty_plan_has_nothing_to_judge() -> None:
    assert planned()._replace(evaluators={}) == GatePlan(ranges={"exact-match": (0.0, 1.0), "judge": (0.0, 1.0)})


@pytest.mark.parametrize(
    ("metric", "keys", "place"),
    [
        ("exact-match", {"min": 50}, "min"),
        ("exact-match", {"min": 1.01}, "min"),
        ("exact-match", {"min": 50, "stat": "lower"}, "min"),
        ("exact-match", {"max": -0.1}, "max"),
        ("exact-match", {"max": -0.1, "stat": "upper"}, "max"),
        ("judge", {"min": 4}, "min"),
        ("exact-match.pass@2", {"min": 90}, "min"),
    ],
)
def test_g3_a_bound_that_no_value_can_meet_is_refused(metric: str, keys: Any, place: str) -> None:
    assert f"spec.gates[0].{place} is" in refusal(gate(metric, **keys), trials=2).message


@pytest.mark.parametrize(
    ("metric", "keys"),
    [
        ("exact-match", {"min": 1}),
        ("exact-match", {"max": 0}),
        ("exact-match", {"min": 1 + 1e-13}),
        ("length", {"min": 50}),
        ("judge", {"min": 50, "stat": "n"}),
        ("exact-match", {"max": 50, "stat": "errors"}),
    ],
)
def test_g3_a_bound_that_some_value_meets_is_taken(metric: str, keys: Any) -> None:
    assert planned(gate(metric, **keys)).gates


@pytest.mark.parametrize(
    "keys", [{"stat": "errors", "max": -1}, {"stat": "error_rate", "min": 5}, {"stat": "skip_rate", "max": -0.5}]
)
def test_g3_a_count_below_0_and_a_rate_above_1_are_refused(keys: Any) -> None:
    with pytest.raises(ValueError, match="never"):
        gate(**keys)


def test_g3_errors_of_an_evaluator_that_never_scored_are_counted_for_each_of_its_metrics() -> None:
    plan = planned(gate("tone", stat="errors", max=5))
    never = numbers(None, 0, metric="judge")._replace(errors=5)
    [found] = judge_gates(plan, [never], facts={})

    assert (found.metric, found.verdict, found.value) == ("tone", "pass", 5.0)


def test_g10_a_gate_on_a_metric_that_needs_a_param_says_what_is_missing() -> None:
    plan = planned(gate("tone", stat="n", min=1))
    scored = numbers(0.5, 3, metric="judge")
    [found] = judge_gates(plan, [scored], facts={})
    assert (found.verdict, found.value) == ("fail", None)
    assert "judge gave" in found.reason
    assert "param" in found.reason
    # Where nothing was scored, that is the reason.
    [found] = judge_gates(plan, [numbers(None, 0, metric="judge")._replace(errors=5)], facts={})
    assert (found.verdict, found.errors) == ("fail", 5)
