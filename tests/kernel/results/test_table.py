"""Summaries as a table that stands straight, whatever the names in it."""

from __future__ import annotations

import pytest

from evalsi_kernel.packs.pack_info import OutputInfo
from evalsi_kernel.results.grid import display_width
from evalsi_kernel.results.table import MAX_LABELS, markdown_table, text_table
from evalsi_kernel.scores.intervals import Interval
from evalsi_kernel.scores.summaries import MetricAccumulator, Summary

README = """\
6 records · 3 evaluators

metric         n  mean     95% CI              skipped  errors
exact-match    6  0.333    [0.097, 0.700]            0       0
numeric-match  3  0.667    [0.208, 0.939]            3       0
latency        6  517.500  [276.409, 758.591]        0       0"""


def readme_summaries() -> list[Summary]:
    exact = MetricAccumulator("exact-match", "exact-match", OutputInfo(kind="pass"))
    exact.add([True, True, False, False, False, False])
    numeric = MetricAccumulator("numeric-match", "numeric-match", OutputInfo(kind="pass"))
    numeric.add([True, False, True])
    latency = MetricAccumulator("latency", "latency", OutputInfo(kind="number", unit="ms", minimum=0))
    latency.add([235, 250, 550, 580, 700, 790])
    return [exact.summary(), numeric.summary()._replace(skipped=3), latency.summary()]


def row(metric: str = "m", n: int = 6, mean: float | None = 0.5, ci: Interval | None = None) -> Summary:
    return Summary(metric, "m", "number", n, mean, ci=ci)


def labelled(labels: dict[str, int], metric: str = "tone") -> Summary:
    return Summary(metric, "tone", "label", sum(labels.values()), labels=labels)


def body(*summaries: Summary) -> list[str]:
    return text_table(6, 1, summaries).split("\n")[2:]


def test_the_table_of_the_readme_comes_out_to_the_byte() -> None:
    assert text_table(6, 3, readme_summaries()) == README


def test_clusters_stand_beside_n_where_they_are_what_the_interval_counts() -> None:
    trials = MetricAccumulator("exact", "exact", OutputInfo(kind="pass"), clustered=True)
    trials.add([True, True, False, True], ["r1", "r1", "r2", "r2"])

    assert body(trials.summary(), row("exact.pass@2", 2)) == [
        "metric        n  clusters  mean   95% CI          skipped  errors",
        "exact         4         2  0.750  [0.010, 0.999]        0       0",
        "exact.pass@2  2         -  0.500  -                     0       0",
    ]


def test_the_same_table_in_markdown() -> None:
    assert (
        markdown_table(6, 3, readme_summaries())
        == """\
6 records · 3 evaluators

| metric | n | mean | 95% CI | skipped | errors |
| --- | ---: | --- | --- | ---: | ---: |
| exact-match | 6 | 0.333 | [0.097, 0.700] | 0 | 0 |
| numeric-match | 3 | 0.667 | [0.208, 0.939] | 3 | 0 |
| latency | 6 | 517.500 | [276.409, 758.591] | 0 | 0 |"""
    )


@pytest.mark.parametrize("make", [text_table, markdown_table])
def test_the_headline_counts_and_says_when_the_run_was_not_complete(make: type) -> None:
    assert make(1, 1, [row()]).startswith("1 record · 1 evaluator\n")
    assert make(100_000, 2, [row()], "partial").startswith("100,000 records · 2 evaluators · partial\n")


def test_cancelled_records_have_a_column_of_their_own_only_when_there_are_some() -> None:
    assert body(row()._replace(cancelled=12), row("other")._replace(skipped=7)) == [
        "metric  n  mean   CI  skipped  errors  cancelled",
        "m       6  0.500  -         0       0         12",
        "other   6  0.500  -         7       0          0",
    ]


def test_counts_stand_under_each_others_last_digit() -> None:
    assert body(row("a", n=100_000), row("b", n=7)) == [
        "metric       n  mean   CI  skipped  errors",
        "a       100000  0.500  -         0       0",
        "b            7  0.500  -         0       0",
    ]


def test_what_has_no_value_is_a_dash_and_never_a_zero() -> None:
    assert body(row(n=0, mean=None)) == ["metric  n  mean  CI  skipped  errors", "m       0  -     -         0       0"]


@pytest.mark.parametrize(
    ("mean", "shown"),
    [
        (0.0, "0.000"),
        (0.5, "0.500"),
        (-0.001, "-0.001"),
        (0.00021, "0.00021"),
        (0.0000123, "1.23e-05"),
        (1234567.0, "1234567.000"),
        (1e15, "1e+15"),
    ],
)
def test_a_number_shows_three_decimals_or_three_digits_where_those_would_show_nothing(mean: float, shown: str) -> None:
    assert body(row(mean=mean))[1].split()[2] == shown


def test_the_level_stands_in_the_header_when_it_is_one_for_all() -> None:
    summaries = [row(ci=Interval(0.1, 0.9, level, "t")) for level in (0.9, 0.9, 0.995)]
    assert "90% CI" in body(*summaries[:2])[0]
    assert "99.5% CI" in body(summaries[2])[0]
    assert "% CI" not in body(*summaries)[0]


def test_wide_characters_count_twice_and_marks_not_at_all() -> None:
    lines = body(row("正解率"), row("e\u0301galite\u0301"), row("plain"), row("ｆｕｌｌ"), row("한국어"))
    assert [display_width(line) for line in lines] == [display_width(lines[0])] * 6
    assert lines[1] == "正解率    6  0.500  -         0       0"


def test_a_long_name_widens_its_column() -> None:
    lines = body(row("a" * 70), row("b"))
    assert {len(line) for line in lines} == {len(lines[0])}


def test_labels_follow_the_table_the_most_frequent_first() -> None:
    assert text_table(6, 1, [labelled({"kind": 4, "curt": 2})]).split("\n")[-2:] == ["", "tone: kind 4, curt 2"]
    assert markdown_table(6, 1, [labelled({"kind": 4, "curt": 2})]).split("\n")[-2:] == ["", "- tone: kind 4, curt 2"]


def test_of_very_many_labels_the_first_are_shown_and_the_others_counted() -> None:
    line = text_table(6, 1, [labelled({f"l{number}": 1 for number in range(MAX_LABELS + 1_234)})]).split("\n")[-1]
    assert line.endswith(f"l{MAX_LABELS - 1} 1, and 1,234 more")


@pytest.mark.parametrize("make", [text_table, markdown_table])
def test_what_cannot_be_printed_is_escaped_so_that_no_name_can_steer_a_terminal(make: type) -> None:
    table = make(6, 1, [labelled({"a\nb": 1}, metric="evil\x1b[31m\u202e\x00")])
    assert all(line.isprintable() for line in table.split("\n"))
    assert r"evil\x1b" in table.replace(r"\\", "\\")
    assert r"a\nb 1" in table.replace(r"\\", "\\")


def test_what_markdown_would_take_for_its_own_is_escaped() -> None:
    lines = markdown_table(6, 1, [labelled({"a|b": 1}, metric="x|y *z* <b> __i__ rouge_l `c` [d](e)")]).split("\n")
    assert lines[4].startswith(r"| x\|y \*z\* \<b\> \_\_i\_\_ rouge_l \`c\` \[d\](e) | 1 | - |")
    assert lines[-1].endswith(r": a\|b 1")


def test_without_a_metric_there_is_the_header_alone() -> None:
    assert text_table(0, 0, []) == "0 records · 0 evaluators\n\nmetric  n  mean  CI  skipped  errors"
