"""Pairs over any outcomes of two runs, held to the few lines that say what a pair is."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi_comparison.comparison import Wanted, compare
from tests.comparison.results_files import verdicts, write_results

LETTERS = {"p": "scored", "f": "scored", "e": "errors", "s": "skipped"}
RUN = st.dictionaries(
    st.sampled_from(["r1", "r2", "r3", "r4", "r5"]), st.text("pfes", min_size=1, max_size=3), min_size=1
)


def outcomes(run: dict[str, str]) -> dict[tuple[str, int], str]:
    return {(record, trial): letter for record, word in run.items() for trial, letter in enumerate(word, 1)}


@settings(max_examples=80, deadline=None)
@given(RUN, RUN)
def test_a_pair_is_what_both_runs_scored_and_everything_else_is_counted_once_a_run(
    base: dict[str, str], candidate: dict[str, str]
) -> None:
    # A record that both have makes the runs comparable; it passes in both.
    base, candidate = {**base, "both": "p"}, {**candidate, "both": "p"}
    with tempfile.TemporaryDirectory() as folder:
        paths = [
            write_results(Path(folder) / f"{name}.json", {"exact": verdicts(**run)})
            for name, run in (("base", base), ("candidate", candidate))
        ]
        (found,) = compare(Wanted(paths[0], paths[1])).differences
    before, after = outcomes(base), outcomes(candidate)
    paired = [item for item in before if item in after and {before[item], after[item]} <= {"p", "f"}]
    by_record: dict[str, list[int]] = {}
    for item in paired:
        by_record.setdefault(item[0], []).append((after[item] == "p") - (before[item] == "p"))
    means = [sum(one) / len(one) for one in by_record.values()]
    assert (found.pairs, found.records) == (len(paired), len(means))
    assert found.difference is not None
    assert math.isclose(found.difference, sum(means) / len(means), abs_tol=1e-12)
    assert (found.won, found.lost) == (sum(one > 0 for one in means), sum(one < 0 for one in means))
    rest = [
        (before.get(item), after.get(item))
        for item in before.keys() | after.keys()
        if item not in paired and not before.get(item) == after.get(item) == "s"
    ]
    for place, left in ((0, found.left_base), (1, found.left_candidate)):
        expected = Counter("absent" if pair[place] is None else LETTERS[pair[place] or ""] for pair in rest)
        assert (left.absent, left.errors, left.skipped, left.unmatched) == (
            expected["absent"], expected["errors"], expected["skipped"], expected["scored"]
        )  # fmt: skip
    assert found.tested.p is not None
    assert found.ci is None or found.ci.low < found.ci.high
    assert found.ci is not None or found.kind == "number"
