"""`evalsi compare` as a user runs it, on files that `evalsi eval` wrote."""

from __future__ import annotations

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Done, evalsi, write_jsonl
from tests.comparison.replayed import CAPITALS, replayed_spec
from tests.comparison.results_files import many, write_results
from tests.reports.pages import DESK, PHONE, browser, chromium, opened

NASTY = "<script>alert('x')</script> | `a` **b**"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs over forty questions, ten of which the second answers wrong."""
    folder = tmp_path_factory.mktemp("runs")
    paths = []
    for name, wrong in (("base", 0), ("candidate", 10)):
        rows = [
            {
                "id": f"q{number}",
                "input": f"What is {number} + 1? {NASTY}",
                "output": f"no idea {NASTY}" if number < wrong else f"{number + 1}",
                "reference": f"{number + 1}",
                "topic": "odd" if number % 2 else "even",
            }
            for number in range(40)
        ]
        data = write_jsonl(folder / f"{name}.jsonl", rows)
        paths.append(folder / f"{name}.json")
        done = evalsi("eval", "--data", data, "--evaluators", "exact-match,token-f1", "--output", paths[-1], "--quiet")
        assert done.code == 0, done.err
    return paths[0], paths[1]


def compare(runs: tuple[Path, Path], *words: str | Path) -> Done:
    return evalsi("compare", *runs, *words)


def report(done: Done) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_runs_that_were_made_here_are_named_by_their_ids(tmp_path: Path) -> None:
    """The comparison of the guide's recipe D, whose ids are those that `evalsi run --format json` prints."""
    ids = []
    for city in ("Nairobi", "Mombasa"):
        spec = replayed_spec(tmp_path, {**CAPITALS, "Kenya": city}, least=0.5, trials=1)
        done = evalsi("run", "-f", spec, "--format", "json", "--quiet", cwd=tmp_path)
        ids.append(json.loads(done.out)["id"])
    assert ids == ["capitals-1", "capitals-2"]
    done = evalsi("compare", *ids, "--format", "json", cwd=tmp_path)
    assert [(one["metric"], one["won"], one["lost"]) for one in report(done)["metrics"]] == [("exact-match", 0, 1)]
    (tmp_path / "capitals-2").write_text("A file goes before a run of its name.")
    assert "capitals-2 is no results file" in evalsi("compare", *ids, cwd=tmp_path).err
    missing = evalsi("compare", "capitals-1", "capitals-3", cwd=tmp_path)
    assert missing.code == 1
    assert "capitals-3 cannot be read" in missing.err
    assert "`evalsi runs list`" in missing.err


def test_the_table_says_first_what_became_worse(runs: tuple[Path, Path]) -> None:
    done = compare(runs, "--limit", "2")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "Worse: exact-match -0.250, token-f1 -0.250."
    cells = [" ".join(line.split()) for line in lines]
    assert "exact-match 40 1.000 0.750 -0.250 [-0.402, -0.140] 0.002 0 10 30 4,904 worse" in cells
    assert "exact-match: 10 worse, 30 the same; 2 of them" in lines
    assert [line.split()[0] for line in lines if "pass → fail" in line] == ["q0", "q1"]


def test_json_has_the_same_figures_and_every_key_of_a_metric(runs: tuple[Path, Path]) -> None:
    found = report(compare(runs, "--format", "json"))
    exact = found["metrics"][0]
    assert (exact["metric"], exact["difference"], exact["direction"], exact["test"]) == (
        "exact-match", -0.25, "worse", "mcnemar-midp"
    )  # fmt: skip
    assert exact["changed"]["lost"][0]["record_id"] == "q0"
    assert exact["changed"]["lost"][0]["base_output"] == "1"
    assert exact["needed"]["records"] > 1000
    assert found["regression"] is None
    assert found["records"]["both"] == 40
    assert [one["name"] for one in found["changes"]] == ["sha256", "source"]


def test_a_regression_ends_with_three_and_the_other_way_round_with_none(runs: tuple[Path, Path]) -> None:
    worse = compare(runs, "--fail-on-regression")
    assert worse.code == 3
    assert "regressed: exact-match, worse by 0.25, p = 0.0017" in worse.out
    better = compare((runs[1], runs[0]), "--fail-on-regression")
    assert better.code == 0
    assert "no regression in 2 metrics" in better.out
    assert compare(runs, "--fail-on-regression", "exact-match:0.3").code == 0
    assert compare(runs, "--fail-on-regression", "exact-match:0.2", "token-f1:0.5", "--format", "json").code == 3


def test_a_misspelt_metric_and_wrong_figures_are_wrong_usage(runs: tuple[Path, Path], tmp_path: Path) -> None:
    for words, said in (
        (["--metric", "exact-mach"], 'Did you mean "exact-match"?'),
        (["--fail-on-regression", "exact-mach:0.1"], 'Did you mean "exact-match"?'),
        (["--confidence", "95"], "--confidence is 95"),
        (["--limit", "-1"], "--limit is -1"),
        (["--ci", "bootstrp"], 'Did you mean "bootstrap"?'),
        (["-o", tmp_path / "page.pdf"], "End it with .html, .md or .json."),
    ):
        done = compare(runs, *words)
        assert done.code in (1, 2), words
        assert said in done.err, words
        assert done.out == ""


def test_a_comparison_takes_the_place_of_neither_file(runs: tuple[Path, Path]) -> None:
    for path in runs:
        before = path.read_bytes()
        done = compare(runs, "-o", path)
        assert (done.code, done.out) == (2, "")
        assert f"{path} is an input of this command and would be overwritten." in done.err
        assert path.read_bytes() == before


def test_what_is_no_results_file_is_an_error(runs: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    for paths, said in (
        ((runs[0], tmp_path / "other.json"), "is no results file of Evals.si"),
        ((runs[0], tmp_path / "missing.json"), "cannot be read: No such file"),
    ):
        done = evalsi("compare", *paths)
        assert (done.code, done.out) == (1, "")
        assert said in done.err
    assert evalsi("compare", runs[0], runs[0]).code == 2


def test_a_copy_of_a_run_is_compared_and_told_as_such(runs: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copy(runs[0], tmp_path / "copy.json")
    done = evalsi("compare", runs[0], tmp_path / "copy.json")
    assert done.code == 0
    assert done.out.startswith("No significant difference.")
    assert "note: Both files are of one and the same run." in done.out


def test_clusters_and_bootstrap_work_through_the_command(runs: tuple[Path, Path]) -> None:
    found = report(compare(runs, "--cluster-by", "topic", "--ci", "bootstrap", "--format", "json"))
    exact = found["metrics"][0]
    assert (exact["clusters"], exact["ci"]["method"].split()[0]) == (2, "tango")
    found = report(compare(runs, "--ci", "bootstrap", "--format", "json"))
    assert found["metrics"][0]["ci"]["method"] == "bootstrap"


def test_markdown_leads_with_what_changed_and_lets_no_text_break_out(runs: tuple[Path, Path]) -> None:
    lines = compare(runs, "--format", "markdown", "--fail-on-regression").out.splitlines()
    assert lines[0] == "**Worse: exact-match -0.250, token-f1 -0.250.**"
    assert lines[2].startswith("- regressed: exact-match, worse by 0.25")
    (row,) = [line for line in lines if line.startswith("| q0 ") and "pass → fail" in line]
    assert "\\<script\\>" in row
    assert row.replace("\\|", "").count("|") == 5


class Page(HTMLParser):
    """Tags and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_needs_nothing_else_and_lets_no_text_break_out(runs: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert compare(runs, "-o", page).code == 0
    text = page.read_text("utf-8")
    found = Page(text)
    assert "script" not in {tag for tag, _ in found.tags}
    assert not [attrs for _, attrs in found.tags if attrs.keys() & {"src", "href"}]
    assert "http" not in text
    assert "prefers-color-scheme: dark" in text
    assert any(NASTY in one for one in found.texts)
    headings = [one for one in found.texts if one.startswith("Worse: exact-match")]
    assert len(headings) == 2  # the title and the first heading


@pytest.mark.skipif(chromium() is None, reason="no Chromium here: apt-get install chromium")
def test_a_browser_shows_the_page_on_a_phone_and_a_desk_in_light_and_dark_and_asks_for_nothing(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    compare(runs, "-o", page)
    papers = set()
    with browser() as found:
        for screen in (PHONE, DESK):
            for scheme in ("light", "dark"):
                with opened(found, page, viewport=screen, color_scheme=scheme) as shown:
                    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                    papers.add(shown.page.evaluate("getComputedStyle(document.body).backgroundColor"))
                    assert shown.page.get_by_text("pass → fail").first.is_visible()
                    assert (shown.said, shown.asked) == ([], [page.as_uri()])
    assert len(papers) == 2


def test_runs_of_a_spec_are_compared_with_their_trials_targets_and_gates(tmp_path: Path) -> None:
    worse = {**CAPITALS, "Kenya": "Mombasa"}
    for name, answers, least, trials in (("base", CAPITALS, 0.6, 1), ("candidate", worse, 0.5, 2)):
        spec = replayed_spec(tmp_path, answers, least=least, trials=trials)
        done = evalsi("run", "-f", spec, "--fresh", "--output", f"{name}.json", cwd=tmp_path)
        assert done.code == 0, done.err
    found = report(evalsi("compare", "base.json", "candidate.json", "--format", "json", cwd=tmp_path))
    exact = found["metrics"][0]
    assert (exact["pairs"], exact["lost"], exact["left_out"]["base"]["absent"]) == (4, 1, 4)
    (lost,) = exact["changed"]["lost"]
    assert (lost["base_output"], lost["candidate_output"]) == ("Nairobi", "Mombasa")
    changes = {(one["group"], one["name"]): one for one in found["changes"]}
    assert changes["gates", "exact-match min"]["weakens"]
    assert changes["run", "trials"]["candidate"] == "2"
    assert ("target", "sha256") in changes
    assert any("candidate.json has exact-match.pass@2, exact-match.pass^2" in note for note in found["notes"])


def test_weakened_gates_lead_the_markdown(tmp_path: Path) -> None:
    paths = [
        write_results(
            tmp_path / f"{name}.json",
            {"exact": many("a", 5, True)},
            manifest={"spec": {"gates": [{"metric": "exact", "min": least}]}, "run_id": f"{name}-1"},
        )
        for name, least in (("base", 0.9), ("candidate", 0.5))
    ]
    lines = evalsi("compare", *paths, "--format", "markdown").out.splitlines()
    assert lines[2] == "- Weakened: exact min, 0.9 → 0.5"
    assert report(evalsi("compare", *paths, "--format", "json"))["weakened"] is True
