"""A spec that is wrong is told in one error, every problem with its line, its place, and what was meant."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.errors import ConfigError, EvalsiError
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_runs.schema_command import run_schema
from evalsi_runs.spec_file import read_spec, run_name

GOOD = """\
metadata: {name: good}
spec:
  target: {connector: replay, path: recorded.jsonl}
  dataset: {path: qa.jsonl}
  evaluators:
    - ref: exact-match
"""


def read(tmp_path: Path, text: str) -> object:
    path = tmp_path / "run.yaml"
    path.write_text(text)
    return read_spec(path, default_extensions())


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    return str(caught.value)


def test_the_example_of_the_guide_is_read(tmp_path: Path) -> None:
    document = read_spec(Path(__file__).parents[2] / "examples" / "runs" / "capitals.yaml", default_extensions())
    assert document.metadata.name == "capitals"
    assert document.project == "quickstart"
    assert document.spec.trials == 3
    assert document.spec.gates[1].stat == "mean"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("dataset: {path", "dataset: {pth", "line 4: spec.dataset.pth is not a known key"),
        ("dataset: {path", "dataset: {pth", 'Did you mean "path"?'),
        (
            "connector: replay",
            "connector: reply",
            "line 3: spec.target.connector cannot be used: Unknown target 'reply'",
        ),
        ("path: recorded", "paht: recorded", 'line 3: spec.target.paht is not a known key. Did you mean "path"?'),
        ("{path: qa.jsonl}", "qa.jsonl", "Write it as {path: …}."),
        ("{path: qa.jsonl}", "[qa.jsonl]", "line 4: spec.dataset must be a table, not a list"),
        ("{path: qa.jsonl}", "{path: qa.jsonl, limit: many}", "spec.dataset.limit must be a whole number, not"),
        ("{path: qa.jsonl}", "{path: qa.jsonl, uri: hf://x}", "line 4: spec.dataset names path and uri"),
        ("{path: qa.jsonl}", "{}", "line 4: spec.dataset names no data"),
        ("    - ref: exact-match", "    - rf: exact-match", "line 6: spec.evaluators[0].rf is not a known key"),
        ("metadata: {name: good}", "metadata: {name: good}\nkind: EvalRan", "kind must be 'EvalRun', not"),
        ("metadata: {name: good}", "metadata: {name: 'not/good'}", "metadata.name must be a name of letters, digits"),
        ("spec:", "spec:\n  trials: yes", 'line 3: spec.trials must be a whole number, not the text "yes"'),
        ("spec:", "spec:\n  trials: 0", "line 3: spec.trials is the number 0"),
        ("spec:", "spec:\n  gates: [{metric: exact-match}]", "spec.gates[0]"),
        ("spec:", "spec:\n  budget: {max_wall_clock: soon}", "spec.budget.max_wall_clock"),
        ("spec:", "spec:\n\ttrials: 3", "line 3: a tab indents it."),
        ("spec:", "spec:\n  trials: 1\n  trials: 2", "line 4: 'trials' stands in line 3 already."),
        ("spec:", "spec: &anchor", "line 2: an anchor is not read."),
        ("{path: qa.jsonl}", "*data", "alias"),
        ("spec:", "spec:\n  trials: !!int 3", "the tag"),
        ("metadata: {name: good}", "<<: {}", "line 1: a merge key (<<) is not read."),
        ("metadata: {name: good}", "metadata: {name: [}", "line 1: "),
        ("path: qa.jsonl", "path: .nan", "line 4: .nan is no number"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in GOOD
    assert told in refused(tmp_path, GOOD.replace(old, new))


def test_all_problems_are_told_at_once_in_the_order_of_their_lines(tmp_path: Path) -> None:
    text = GOOD.replace("ref:", "rf:").replace("connector: replay", "connector: reply").replace("path: qa", "pth: qa")
    told = refused(tmp_path, text)
    assert "problems:" in told
    assert told.index("line 3") < told.index("line 4") < told.index("line 6")


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n", "just text\n", "--- a\n--- b\n"])
def test_a_document_of_quite_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    assert refused(tmp_path, text)


def test_words_that_older_yaml_takes_for_truth_values_or_numbers_are_text(tmp_path: Path) -> None:
    text = GOOD.replace("name: good}", "name: good, labels: {a: yes, b: off, c: '1', d: 1:30, e: 012}}")
    document = read_spec(_written(tmp_path, text), default_extensions())
    assert document.metadata.labels == {"a": "yes", "b": "off", "c": "1", "d": "1:30", "e": "012"}


def test_a_run_without_a_name_is_called_as_its_file(tmp_path: Path) -> None:
    path = _written(tmp_path, GOOD.replace("metadata: {name: good}\n", ""))
    assert run_name(read_spec(path, default_extensions()), path) == "run"


def test_an_agent_behind_http_is_a_target_too(tmp_path: Path) -> None:
    agent = "{agent: {http: {url: 'http://localhost:1', output_path: reply}}}"
    document = read_spec(
        _written(tmp_path, GOOD.replace("{connector: replay, path: recorded.jsonl}", agent)), default_extensions()
    )
    assert document.spec.target.connector == "http"
    assert document.spec.target.options["output_path"] == "reply"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = run_schema(default_extensions())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("spec:", "spec:\n  budget: {max_wall_clock: 1.5h, max_target_usd: 2}"),
        ("spec:", "spec:\n  budget: {max_wall_clock: 90}"),
        ("spec:", "spec:\n  stop_when_decided: true"),
        ("spec:", "spec:\n  stop_when_decided: {error_rate: 0.01}"),
        ("spec:", "spec:\n  summary: {ci_method: CI_METHOD_BOOTSTRAP, slice_by: [language]}"),
        ("spec:", "spec:\n  gates: [{metric: a, min: 0.5, stat: GATE_STAT_CI_LOW, slice: {level: 3}}]"),
        ("{connector: replay, path: recorded.jsonl}", "{agent: {replay: {path: recorded.jsonl}}, max_concurrency: 3}"),
        ("{path: qa.jsonl}", "{inline: {records: [{input: a}]}}"),
    ],
)
def test_the_schema_takes_what_the_reader_takes(
    tmp_path: Path, validator: jsonschema.Draft202012Validator, old: str, new: str
) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new)
    read(tmp_path, text)
    validator.validate(yaml.safe_load(text))


def test_the_schema_takes_the_example_of_the_guide_and_ours(validator: jsonschema.Draft202012Validator) -> None:
    root = Path(__file__).parents[2]
    starters = root / "plugins" / "extensions" / "runs" / "src" / "evalsi_runs" / "starter"
    for path in (root / "examples" / "runs" / "capitals.yaml", *starters.glob("*/run.yaml")):
        validator.validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("path: recorded", "paht: recorded"),
        ("connector: replay", "connector: reply"),
        ("spec:", "spec:\n  trials: 0"),
        ("spec:", "spec:\n  budget: {max_wall_clock: soon}"),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(
    tmp_path: Path, validator: jsonschema.Draft202012Validator, old: str, new: str
) -> None:
    text = GOOD.replace(old, new)
    assert refused(tmp_path, text)
    assert not validator.is_valid(yaml.safe_load(text))


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "run.yaml"
    path.write_text(text)
    return path


YAML_MARKS = ":-{}[],&*!'\"|>?#~<\\%@.e10 \n\t\x00\x85\ufeffé"


@given(st.one_of(st.binary(max_size=60), st.text(YAML_MARKS, max_size=40).map(str.encode)))
def test_whatever_a_file_holds_it_is_read_or_refused_in_sentences(content: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.yaml"
        path.write_bytes(content)
        with pytest.raises(EvalsiError) as caught:
            read_spec(path, default_extensions())
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["[" * 5_000, "{a: " * 5_000, "- " * 5_000, "a: &a [*a, *a]", "? " * 2_000])
def test_a_document_that_would_be_nested_without_end_is_refused(tmp_path: Path, text: str) -> None:
    assert refused(tmp_path, text)
