"""C4: unambiguous input is accepted, and typos get a suggestion."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from evalsi_cli.parsing import Parser
from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import UsageError
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.records.mapping import parse_mapping
from evalsi_runs.spec_file import add_spec, read_spec, spec_named


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["input=q,output=a"], {"input": ("q",), "output": ("a",)}),
        (["input=q, output=a.b", "reference=r"], {"input": ("q",), "output": ("a", "b"), "reference": ("r",)}),
        (["output=a,b"], {"output": ("a,b",)}),
        (["usage.latency_ms=t,metadata.x=y"], {"usage.latency_ms": ("t",), "metadata.x": ("y",)}),
    ],
)
def test_c4_several_assignments_may_be_in_one_word(words: list[str], expected: dict[str, tuple[str, ...]]) -> None:
    assert parse_mapping(words) == expected


def test_c4_a_misspelt_field_behind_a_comma_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        parse_mapping(["input=q,ouput=a"])
    assert "'ouput'" in caught.value.message


def spec_of(*words: str) -> Path:
    parser = argparse.ArgumentParser()
    add_spec(parser, "the spec")
    return spec_named(parser.parse_args(words))


def test_c4_a_spec_is_named_by_its_place_or_by_its_flag() -> None:
    assert spec_of("run.yaml") == spec_of("-f", "run.yaml") == spec_of("--file", "run.yaml") == Path("run.yaml")


@pytest.mark.parametrize("words", [(), ("a.yaml", "-f", "b.yaml")])
def test_c4_no_spec_and_two_specs_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        spec_of(*words)
    assert "run.yaml" in caught.value.hint


def test_c4_a_text_is_the_ref_of_an_evaluator(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(
        "spec:\n  target: {connector: replay, path: a.jsonl}\n  dataset: {path: a.jsonl}\n"
        "  evaluators: [exact-match, {ref: contains, name: has}]\n"
    )
    document = read_spec(path, default_extensions())

    assert [(one.ref, one.name) for one in document.spec.evaluators] == [("exact-match", None), ("contains", "has")]


@pytest.mark.parametrize("word", ["--evaluator", "--evaluators-", "--evaluator=x", "--evalutors"])
def test_c4_a_misspelt_required_flag_is_met_with_the_known_one(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser(prog="evalsi eval")
    parser.add_argument("--evaluators", required=True)
    with pytest.raises(SystemExit):
        parser.parse_args([word, "exact-match"])
    assert "Did you mean --evaluators?" in capsys.readouterr().err


def test_c4_a_missing_flag_without_a_misspelt_one_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser(prog="evalsi eval")
    parser.add_argument("--evaluators", required=True)
    with pytest.raises(SystemExit):
        parser.parse_args([])
    assert "required: --evaluators" in capsys.readouterr().err


def test_c4_a_name_is_no_suggestion_for_itself() -> None:
    assert did_you_mean("cust", ["cust", "topic"]) == ""
    assert did_you_mean("cust", ["cust", "Cust"]) == 'Did you mean "Cust"?'
    assert did_you_mean("cust", ["latency"]) == ""
