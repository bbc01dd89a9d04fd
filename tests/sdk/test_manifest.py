"""Test generating the evaluator tables of a plugin.toml, and checking them for drift."""

from __future__ import annotations

import math
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import Output, Param, Record, Score, evaluator
from evalsi.definition import definition_of
from evalsi.manifest import MARK, ManifestError, evaluator_tables, main, toml_value, with_tables
from evalsi_kernel.packs.manifests import load_manifest

HEAD = """\
manifest = 1
name = "acme/tone"
version = "1.0.0"
summary = "How it sounds."
protocol = 1

[run]
module = "acme_tone"
"""
PACK = '''\
from evalsi import Output, Record, Score, evaluator


@evaluator(name="polite", version=1, needs=["output"], outputs=[Output(kind="pass")])
def polite(record: Record, *, word: str = "please") -> Score:
    """Says please."""
    return Score(passed=word in record.output.as_text())
'''


@evaluator(name="polite", version=3, needs=["output"], outputs=[Output(kind="pass")])
def polite(
    record: Record,
    *,
    words: Annotated[list[str], Param(description='Any of these: "please", …', min_length=1)] = ["please"],  # noqa: B006
    mode: Literal["any", "all"] | None = None,
    limits: dict[str, float] = {"per.word": 0.5},  # noqa: B006
) -> Score:
    """Says \\ "please"."""
    return Score(passed=any(word in record.output.as_text() for word in words))


@evaluator(name="length", scope="dataset", outputs=[Output(unit="words", minimum=0, higher_is_better=None)])
class Length:
    """The mean length."""

    def observe(self, record: Record) -> list[float]:
        return [len(record.output.as_text().split()), 1]

    def combine(self, totals: list[float]) -> float:
        return totals[0] / totals[1]


DEFINITIONS = [definition_of(polite), definition_of(Length)]

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
)


def manifest_in(folder: Path) -> Path:
    """A pack's folder with its code and the head of its manifest."""
    (folder / "acme_tone.py").write_text(PACK, encoding="utf-8")
    path = folder / "plugin.toml"
    path.write_text(HEAD, encoding="utf-8")
    return path


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """`python -m evalsi.manifest`, as an author runs it in the folder of a pack."""
    command = [sys.executable, "-B", "-m", "evalsi.manifest", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=30, check=False)


# -- values -----------------------------------------------------------------------------------------------------------


@given(values)
def test_any_value_that_json_has_is_read_back_as_it_was_written(value: Any) -> None:
    assert tomllib.loads(f"value = {toml_value(value)}") == {"value": value}


@pytest.mark.parametrize(
    "text",
    [
        'say "please"',
        "C:\\new\\table",
        "tab\tnew\nline\r\n",
        "\b\f\x00\x1b\x1f",
        "\x7f\x80\x85",
        "\u2028\u2029\ufeff",
        "'''\"\"\"",
        "naïve 😀",
        "# no comment",
        "",
    ],
    ids=ascii,
)
def test_a_nasty_text_is_read_back_as_value_and_as_key(text: str) -> None:
    assert tomllib.loads(f"value = {toml_value({text: text})}") == {"value": {text: text}}


def test_control_characters_are_escaped_as_toml_demands() -> None:
    assert toml_value("\x7f\b\x01") == '"\\u007f\\b\\u0001"'


@pytest.mark.parametrize("number", [0.0, -0.0, 1e-7, 1e22, 1.5e300, 5e-324, math.inf, -math.inf, 2**63, -(2**70)])
def test_a_number_is_read_back_as_it_was_with_its_type(number: float) -> None:
    read = tomllib.loads(f"value = {toml_value(number)}")["value"]
    assert (read, type(read), math.copysign(1, read)) == (number, type(number), math.copysign(1, number))


def test_not_a_number_is_read_back_as_that() -> None:
    assert math.isnan(tomllib.loads(f"value = {toml_value(math.nan)}")["value"])


@pytest.mark.parametrize("value", [None, [None], {"a": None}, object, {"a": {1, 2}}], ids=str)
def test_a_value_that_toml_does_not_have_is_refused_and_never_dropped(value: Any) -> None:
    with pytest.raises(TypeError, match="TOML cannot represent"):
        toml_value(value)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(TypeError, match="lone surrogate"):
        toml_value("\ud800")


# -- tables -----------------------------------------------------------------------------------------------------------


def test_the_tables_say_what_the_definitions_say() -> None:
    read = tomllib.loads(evaluator_tables(DEFINITIONS))
    assert read == {"evaluators": [definition.to_dict() for definition in DEFINITIONS]}


def test_the_kernel_reads_the_manifest_that_is_written(tmp_path: Path) -> None:
    path = tmp_path / "plugin.toml"
    path.write_text(with_tables(HEAD, evaluator_tables(DEFINITIONS)), encoding="utf-8")
    assert [one.name for one in load_manifest(path).evaluators] == ["polite", "length"]


def test_each_param_has_a_line_of_its_own() -> None:
    lines = evaluator_tables(DEFINITIONS).splitlines()
    assert lines.count("[evaluators.params.properties]") == 1
    assert [line.partition(" = ")[0] for line in lines if line.startswith(("words", "mode", "limits"))] == [
        "words",
        "mode",
        "limits",
    ]


def test_tables_replace_those_that_were_written_before_and_leave_the_author_s_part() -> None:
    head = "# The author's.\n" + HEAD
    first = with_tables(head, evaluator_tables(DEFINITIONS))
    assert first.startswith(head)
    assert with_tables(first, evaluator_tables(DEFINITIONS)) == first
    shorter = with_tables(first, evaluator_tables(DEFINITIONS[:1]))
    assert [table["name"] for table in tomllib.loads(shorter)["evaluators"]] == ["polite"]
    assert shorter.count(MARK) == 1


def test_tables_that_an_author_wrote_by_hand_are_refused_rather_than_doubled() -> None:
    with pytest.raises(ManifestError, match=r"\[\[evaluators\]\] above the generated tables. Delete them"):
        with_tables(HEAD + '\n[[evaluators]]\nname = "x"\n', evaluator_tables(DEFINITIONS))


def test_a_manifest_that_is_not_toml_is_refused_with_the_place() -> None:
    with pytest.raises(ManifestError, match=r"It is not valid TOML: .*line 1"):
        with_tables("name = acme", evaluator_tables(DEFINITIONS))


# -- the command ------------------------------------------------------------------------------------------------------


def test_a_manifest_is_written_and_then_agrees_with_its_code(tmp_path: Path) -> None:
    path = manifest_in(tmp_path)
    assert run("acme_tone", "--check", "plugin.toml", folder=tmp_path).returncode == 1
    assert run("acme_tone", "--write", "plugin.toml", folder=tmp_path).returncode == 0
    checked = run("acme_tone", "--check", "plugin.toml", folder=tmp_path)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    assert [one.name for one in load_manifest(path).evaluators] == ["polite"]


def test_without_a_file_the_tables_are_printed(tmp_path: Path) -> None:
    path = manifest_in(tmp_path)
    printed = run("acme_tone", folder=tmp_path)
    assert tomllib.loads(printed.stdout)["evaluators"][0]["name"] == "polite"
    assert path.read_text(encoding="utf-8") == HEAD


def test_a_manifest_that_differs_from_its_code_names_the_evaluator_and_the_hint(tmp_path: Path) -> None:
    path = manifest_in(tmp_path)
    run("acme_tone", "--write", "plugin.toml", folder=tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace('version = "1"', 'version = "2"'), encoding="utf-8")
    checked = run("acme_tone", "--check", "plugin.toml", folder=tmp_path)
    assert checked.returncode == 1
    assert checked.stderr == (
        "error: plugin.toml differs from the code (polite). "
        "Update it: python -m evalsi.manifest acme_tone --write plugin.toml\n"
    )


def test_a_manifest_that_differs_in_form_only_is_told_so(tmp_path: Path) -> None:
    path = manifest_in(tmp_path)
    run("acme_tone", "--write", "plugin.toml", folder=tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    assert "(formatting only)" in run("acme_tone", "--check", "plugin.toml", folder=tmp_path).stderr


def test_tables_that_are_no_toml_any_more_are_told_so_and_can_be_written_anew(tmp_path: Path) -> None:
    path = manifest_in(tmp_path)
    path.write_text(f"{HEAD}\n{MARK}\n<<<<<<< a merge gone wrong\n", encoding="utf-8")
    assert "(not valid TOML)" in run("acme_tone", "--check", "plugin.toml", folder=tmp_path).stderr
    assert run("acme_tone", "--write", "plugin.toml", folder=tmp_path).returncode == 0
    assert run("acme_tone", "--check", "plugin.toml", folder=tmp_path).returncode == 0


@pytest.mark.parametrize("action", ["--write", "--check"])
def test_a_manifest_that_is_not_there_is_an_error_and_no_traceback(
    action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest_in(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["acme_tone", action, str(tmp_path / "gone.toml")]) == 1
    assert capsys.readouterr().err == f"error: {tmp_path / 'gone.toml'}: No such file or directory. Check the path.\n"


def test_a_manifest_that_is_not_utf8_is_an_error_and_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = manifest_in(tmp_path)
    path.write_bytes(b'summary = "sch\xf6n"\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["acme_tone", "--write", str(path)]) == 1
    assert capsys.readouterr().err == f"error: {path}: It is not UTF-8. Save it as UTF-8.\n"
    assert path.read_bytes() == b'summary = "sch\xf6n"\n'


def test_a_pack_that_cannot_be_loaded_is_an_error_and_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere_at_all"]) == 1
    assert capsys.readouterr().err.startswith("error: There is no module 'nowhere_at_all'.")
