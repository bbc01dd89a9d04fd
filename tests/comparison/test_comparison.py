"""What a comparison finds in two results files: pairs, differences, what is left out, and what a reader must know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from evalsi_comparison.comparison import Comparison, Wanted, compare
from evalsi_comparison.difference import Difference, Settings
from evalsi_comparison.mcnemar import mcnemar_midp
from evalsi_kernel.errors import ConfigError, UsageError
from tests.comparison.results_files import many, verdicts, write_results


def compared(tmp_path: Path, base: dict[str, Any], candidate: dict[str, Any], **options: Any) -> Comparison:
    """Compare two files of these metrics; options of `write_results` are given as base_… and candidate_…."""
    paths = []
    for name, metrics in (("base", base), ("candidate", candidate)):
        own = {key.removeprefix(f"{name}_"): options[key] for key in options if key.startswith(f"{name}_")}
        paths.append(write_results(tmp_path / f"{name}.json", metrics, **own))
    others = {key: value for key, value in options.items() if not key.startswith(("base_", "candidate_"))}
    return compare(Wanted(paths[0], paths[1], **others))


def only(found: Comparison) -> Difference:
    (one,) = found.differences
    return one


# -- verdicts ------------------------------------------------------------------------------------------------------


def test_verdicts_are_compared_by_mcnemar_and_the_changed_records_are_named_worse_ones_first(tmp_path: Path) -> None:
    base = {"exact": {**many("a", 40, True), **many("l", 9, True), **many("w", 1, False)}}
    candidate = {"exact": {**many("a", 40, True), **many("l", 9, False), **many("w", 1, True)}}
    found = only(compared(tmp_path, base, candidate))
    assert (found.pairs, found.won, found.lost, found.tied) == (50, 1, 9, 40)
    assert found.difference == pytest.approx(-0.16)
    assert found.tested.p == mcnemar_midp(9, 1)
    assert found.tested.test == "mcnemar-midp"
    assert found.ci is not None
    assert found.ci.method == "tango"
    assert [flip.record_id for flip in found.flips] == [*(f"l{number}" for number in range(9)), "w0"]
    assert found.direction(0.05) == "worse"


def test_a_run_beside_its_equal_has_room_for_a_difference_and_none_is_significant(tmp_path: Path) -> None:
    same = {"exact": many("a", 10, True)}
    found = only(compared(tmp_path, same, same))
    assert (found.difference, found.tested.p, found.tested.needed) == (0, 1.0, None)
    assert found.ci is not None
    assert found.ci.low < -0.2
    assert found.ci.high > 0.2


def test_where_lower_is_better_a_fall_is_better(tmp_path: Path) -> None:
    base, candidate = {"leak": many("a", 12, True)}, {"leak": many("a", 12, False)}
    lower = {"leak": False}
    found = only(compared(tmp_path, base, candidate, base_higher_is_better=lower, candidate_higher_is_better=lower))
    assert (found.won, found.lost, found.direction(0.05)) == (12, 0, "better")
    assert found.worse_by() == -1


def test_a_metric_without_a_direction_is_told_as_higher_or_lower(tmp_path: Path) -> None:
    base, candidate = {"long": many("a", 12, True)}, {"long": many("a", 12, False)}
    none = {"long": None}
    found = only(compared(tmp_path, base, candidate, base_higher_is_better=none, candidate_higher_is_better=none))
    assert (found.direction(0.05), found.worse_by()) == ("lower", None)


# -- errors and skips ----------------------------------------------------------------------------------------------


def test_what_was_an_error_or_skipped_on_one_side_is_counted_and_never_a_zero(tmp_path: Path) -> None:
    base = {"exact": verdicts(r1="p", r2="p", r3="p", r4="s", r5="s", r6="p")}
    candidate = {"exact": verdicts(r1="p", r2="e", r3="s", r4="s", r5="p")}
    compared_ = compared(tmp_path, base, candidate)
    found = only(compared_)
    assert (found.pairs, found.base, found.candidate, found.lost) == (1, 1.0, 1.0, 0)
    assert found.both_skipped == 1
    assert found.left_base._asdict() == {"absent": 0, "skipped": 1, "errors": 0, "cancelled": 0, "unmatched": 3}
    assert found.left_candidate._asdict() == {"absent": 1, "skipped": 1, "errors": 1, "cancelled": 0, "unmatched": 1}
    assert (
        "exact: 1 pairs; not paired: 1 skipped in the base; 1 failed, 1 skipped, 1 absent in the candidate."
        in compared_.notes
    )


def test_a_metric_that_one_run_never_scored_has_no_difference(tmp_path: Path) -> None:
    found = compared(tmp_path, {"exact": many("a", 5, True)}, {"exact": dict.fromkeys(many("a", 5, True))})
    one = only(found)
    assert (one.pairs, one.difference, one.tested.p, one.p_holm) == (0, None, None, None)


# -- trials --------------------------------------------------------------------------------------------------------


def test_trials_are_averaged_by_record_and_only_pairs_of_trials_count(tmp_path: Path) -> None:
    base = {"exact": verdicts(r1="ppp", r2="pff", r3="ppf", r4="fff")}
    candidate = {"exact": verdicts(r1="ppp", r2="ppp", r3="pep", r4="pf")}
    found = only(compared(tmp_path, base, candidate))
    assert (found.pairs, found.records) == (10, 4)
    differences = [0, 2 / 3, 1 / 2, 1 / 2]
    assert found.difference == pytest.approx(sum(differences) / 4)
    assert found.tested.p == pytest.approx(float(stats.ttest_1samp(differences, 0).pvalue))
    assert found.tested.test == "paired-t"
    assert [(flip.record_id, flip.trials) for flip in found.flips] == [("r2", 3), ("r3", 2), ("r4", 2)]


def test_trials_that_all_pass_in_two_records_are_no_certainty(tmp_path: Path) -> None:
    same = {"exact": verdicts(r1="ppp", r2="ppp")}
    found = only(compared(tmp_path, same, same))
    assert found.ci is not None
    assert found.ci.high - found.ci.low > 1


# -- numbers, labels, the whole ------------------------------------------------------------------------------------


def test_numbers_are_compared_by_the_paired_t_test(tmp_path: Path) -> None:
    before = {f"r{number}": (number * 37 % 11) / 10 for number in range(20)}
    after = {name: value + (index % 5 - 1) / 20 for index, (name, value) in enumerate(before.items())}
    found = only(compared(tmp_path, {"f1": before}, {"f1": after}))
    expected = stats.ttest_rel(list(after.values()), list(before.values()))
    assert found.tested.p == pytest.approx(float(expected.pvalue))
    assert found.ci is not None
    assert found.ci.low == pytest.approx(float(expected.confidence_interval(0.95).low))
    assert (found.won, found.lost, found.tied) == (12, 4, 4)


def test_a_change_of_numbers_beyond_zero_to_one_is_measured_by_their_own_mean(tmp_path: Path) -> None:
    before = {f"r{number}": 100.0 + number for number in range(10)}
    after = {name: value + index % 3 for index, (name, value) in enumerate(before.items())}
    assert only(compared(tmp_path, {"ms": before}, {"ms": after})).change == pytest.approx(2.09)


@pytest.mark.parametrize("huge", [1e200, 1e308])
def test_numbers_too_large_for_floats_to_add_up_are_not_compared_and_a_note_says_so(
    tmp_path: Path, huge: float
) -> None:
    found = compared(tmp_path, {"m": {"a": huge, "b": 1.0}}, {"m": {"a": -huge, "b": 1.0}})
    one = only(found)
    assert (one.pairs, one.difference, one.tested.p, one.flips) == (2, None, None, ())
    assert "m: values beyond 1e+150 cannot be compared." in found.notes


def test_labels_are_counted_and_nothing_else(tmp_path: Path) -> None:
    base = {"form": {"a": "word", "b": "word", "c": "sentence"}}
    candidate = {"form": {"a": "sentence", "b": "word", "c": "sentence"}}
    found = only(compared(tmp_path, base, candidate))
    assert found.labels == {"word": (2, 1), "sentence": (1, 2)}
    assert (found.relabelled, found.tested.p, found.difference) == (1, None, None)


def test_a_metric_of_the_summaries_alone_is_shown_and_not_tested(tmp_path: Path) -> None:
    summary = {"metric": "exact.pass@2", "evaluator": "exact", "kind": "pass", "n": 2, "mean": 0.5}
    paths = []
    for name, mean in (("base", 0.5), ("candidate", 0.75)):
        path = write_results(tmp_path / f"{name}.json", {"exact": verdicts(r1="pp", r2="pf")})
        text = path.read_text().replace('"summaries":[', f'"summaries":[{{"mean":{mean},{_members(summary)}}},', 1)
        path.write_text(text)
        paths.append(path)
    found = compare(Wanted(paths[0], paths[1]))
    assert [tuple(one) for one in found.whole] == [("exact.pass@2", 0.5, 0.75)]
    assert [one.metric for one in found.differences] == ["exact"]


def _members(summary: dict[str, Any]) -> str:
    return ",".join(f'"{key}":"{value}"' if isinstance(value, str) else f'"{key}":{value}'
                    for key, value in summary.items() if key != "mean")  # fmt: skip


def test_the_order_of_the_records_does_not_matter(tmp_path: Path) -> None:
    base = {f"r{number}": number % 7 / 7 for number in range(30)}
    candidate = {name: min(1.0, value + index % 3 / 10) for index, (name, value) in enumerate(base.items())}
    turned = dict(reversed(candidate.items()))
    first, second = (only(compared(tmp_path, {"f1": base}, {"f1": one})) for one in (candidate, turned))
    assert first._replace(flips=()) == second._replace(flips=())
    assert first.flips == second.flips


# -- several metrics, clusters -------------------------------------------------------------------------------------


def test_p_values_are_adjusted_for_the_number_of_metrics_that_are_compared(tmp_path: Path) -> None:
    base = {"one": many("a", 12, True), "two": many("a", 12, True), "three": many("a", 12, True)}
    candidate = {**base, "one": {**many("a", 12, True), **many("a", 6, False)}}
    found = compared(tmp_path, base, candidate)
    p = mcnemar_midp(6, 0)
    assert [one.p_holm for one in found.differences] == [pytest.approx(3 * p), 1.0, 1.0]
    alone = compared(tmp_path, base, candidate, metrics=["one"])
    assert only(alone).p_holm == pytest.approx(p)


def test_records_that_share_a_key_count_as_one(tmp_path: Path) -> None:
    names = [f"r{number}" for number in range(12)]
    metadata = {name: {"book": f"b{index % 3}"} for index, name in enumerate(names)}
    base = {"exact": dict.fromkeys(names, True)}
    candidate = {"exact": {name: index % 3 != 0 for index, name in enumerate(names)}}
    alone = only(compared(tmp_path, base, candidate))
    together = only(
        compared(tmp_path, base, candidate, base_metadata=metadata, candidate_metadata=metadata, cluster_by="book")
    )
    assert alone.tested.p is not None
    assert together.tested.p is not None
    assert alone.tested.p < 0.2 < together.tested.p
    assert (together.clusters, together.tested.test) == (3, "clustered-paired-t")


# Two runs that were clustered by book themselves were compared record by record: p was 0.008, and four records "worse".
def test_what_both_runs_were_clustered_by_is_what_they_are_compared_by(tmp_path: Path) -> None:
    names = [f"r{number}" for number in range(12)]
    metadata: dict[str, dict[str, Any]] = {name: {"book": index % 3} for index, name in enumerate(names)}
    base = {"exact": dict.fromkeys(names, True)}
    candidate = {"exact": {name: index % 3 != 0 for index, name in enumerate(names)}}
    summary = {"confidence_level": 0.95, "cluster_by": "book", "ci_method": "auto", "seed": 0}
    sides: dict[str, Any] = {"base_metadata": metadata, "candidate_metadata": metadata}
    named = compared(tmp_path, base, candidate, **sides, cluster_by="book")
    own = {"base_manifest": {"summary": summary}, "candidate_manifest": {"summary": summary}}
    found = compared(tmp_path, base, candidate, **sides, **own)
    one_sided = compared(tmp_path, base, candidate, **sides, base_manifest={"summary": summary})

    assert found.cluster_by == "book"
    assert only(found).tested == only(named).tested
    assert only(found).tested.test == "clustered-paired-t"
    assert "Records are clustered by book, as in both runs: 3 clusters." in found.notes
    assert "Records are clustered by book: 3 clusters." in named.notes
    assert (only(one_sided).clusters, one_sided.cluster_by) == (None, None)
    assert any("were clustered in the base by book: name the key with --cluster-by" in note for note in one_sided.notes)


def test_the_trials_of_a_record_are_no_key_to_cluster_by(tmp_path: Path) -> None:
    same = {"exact": verdicts(a="ppf", b="pff")}
    summary = {"confidence_level": 0.95, "cluster_by": "id", "ci_method": "auto", "seed": 0}
    own = {"base_manifest": {"summary": summary}, "candidate_manifest": {"summary": summary}}
    found = compared(tmp_path, same, same, **own)
    assert (found.cluster_by, only(found).clusters) == (None, None)


def test_clusters_are_told_apart_as_the_kernel_tells_them(tmp_path: Path) -> None:
    names = {"r0": 1, "r1": 1.0, "r2": "1", "r3": True, "r4": "true", "r5": 1.5}
    metadata: dict[str, dict[str, Any]] = {name: {"of": {"book": book}} for name, book in names.items()}
    same = {"exact": dict.fromkeys(names, True)}
    found = compared(tmp_path, same, same, base_metadata=metadata, candidate_metadata=metadata, cluster_by="of.book")
    assert only(found).clusters == 3


# In floats the mean of 0.1, 0.2 and 0.3 depends on their order.
def test_trials_in_another_order_change_no_record(tmp_path: Path) -> None:
    base, candidate = {"score": {"a": [0.1, 0.2, 0.3], "b": [0.5]}}, {"score": {"a": [0.3, 0.2, 0.1], "b": [0.5]}}
    found = only(compared(tmp_path, base, candidate))
    assert (found.won, found.lost, found.tied, found.difference) == (0, 0, 2, 0.0)


def test_a_record_without_the_key_to_cluster_by_is_named(tmp_path: Path) -> None:
    same = {"exact": many("a", 3, True)}
    with pytest.raises(ConfigError, match=r"record 'a0' has no text or number 'book' in its metadata"):
        compared(tmp_path, same, same, cluster_by="book")


# -- data that differ ----------------------------------------------------------------------------------------------


def test_records_whose_input_differs_are_named_and_not_paired(tmp_path: Path) -> None:
    same = {"exact": many("a", 4, True)}
    other = {"dataset": {"source": "new.jsonl", "records": 4, "sha256": "ef" * 32}}
    found = compared(tmp_path, same, same, candidate_inputs={"a2": "Another?"}, candidate_manifest=other)
    assert (only(found).pairs, only(found).input_differs) == (3, 1)
    assert found.records.input_differs == ("a2",)
    assert f"The data differ: qa.jsonl ({'ab' * 6}) and new.jsonl ({'ef' * 6})." in found.notes
    assert "1 record with another input, so not paired: a2." in found.notes


def test_the_same_input_written_otherwise_is_the_same(tmp_path: Path) -> None:
    same = {"exact": many("a", 2, True)}
    chat = {"messages": [{"role": "user", "content": "Grüße"}]}
    path = write_results(tmp_path / "base.json", same, inputs={"a0": chat, "a1": "é"})
    other = write_results(tmp_path / "candidate.json", same, inputs={"a0": chat, "a1": "é"})
    text = other.read_text().replace("\\u00fc", "ü").replace('{"role":"user","content"', '{ "role": "user", "content"')
    assert text != other.read_text()
    other.write_text(text)
    assert only(compare(Wanted(path, other))).pairs == 2


def test_records_of_one_run_only_are_counted(tmp_path: Path) -> None:
    found = compared(tmp_path, {"exact": many("a", 4, True)}, {"exact": {**many("a", 3, True), "new": True}})
    assert (found.records.both, found.records.only_base, found.records.only_candidate) == (3, 1, 1)
    assert "1 record only in the base: a3." in found.notes


def test_metrics_of_one_run_only_and_of_another_kind_are_named(tmp_path: Path) -> None:
    base = {"exact": many("a", 3, True), "old": many("a", 3, True), "mixed": many("a", 3, True)}
    candidate = {"exact": many("a", 3, True), "new": many("a", 3, True), "mixed": many("a", 3, 0.5)}
    found = compared(tmp_path, base, candidate)
    assert [one.metric for one in found.differences] == ["exact"]
    assert f"Only {tmp_path / 'base.json'} has old." in found.notes
    assert "Not of one kind in both runs, so not compared: mixed." in found.notes


def test_runs_without_a_record_or_a_metric_in_common_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="The runs have no record in common"):
        compared(tmp_path, {"exact": many("a", 2, True)}, {"exact": many("b", 2, True)})
    with pytest.raises(ConfigError, match="The runs have no metric in common"):
        compared(tmp_path, {"exact": many("a", 2, True)}, {"other": many("a", 2, True)})
    with pytest.raises(ConfigError, match="Every record that both runs have differs in its input"):
        compared(tmp_path, {"exact": {"a": True}}, {"exact": {"a": True}}, candidate_inputs={"a": "Else?"})


def test_one_file_twice_is_refused_also_by_a_link(tmp_path: Path) -> None:
    path = write_results(tmp_path / "base.json", {"exact": many("a", 2, True)})
    (tmp_path / "link.json").symlink_to(path)
    for other in (path, tmp_path / "link.json"):
        with pytest.raises(UsageError, match="are the same file"):
            compare(Wanted(path, other))


def test_a_partial_run_says_so(tmp_path: Path) -> None:
    same = {"exact": many("a", 3, True)}
    error = {
        "code": "x",
        "message": "It was stopped after 3 of 5 records.",
        "hint": "",
        "source": "record",
        "retry": "no",
    }
    found = compared(tmp_path, same, same, candidate_manifest={"status": "partial", "error": error})
    assert "The candidate is partial: It was stopped after 3 of 5 records." in found.notes


def test_another_level_moves_the_intervals_and_what_counts(tmp_path: Path) -> None:
    base, candidate = {"exact": many("a", 20, True)}, {"exact": {**many("a", 20, True), **many("a", 5, False)}}
    usual = only(compared(tmp_path, base, candidate))
    strict = only(compared(tmp_path, base, candidate, settings=Settings(0.99)))
    assert usual.ci is not None
    assert strict.ci is not None
    assert strict.ci.low < usual.ci.low
    assert usual.significant(Settings(0.95).alpha)
    assert not strict.significant(Settings(0.99).alpha)
