"""J5: broken rows are all named before a model is asked for the first time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi_kernel.errors import DatasetError
from tests.cli.running import evalsi as evalsi_command
from tests.providers import KEY, MODEL, Provider, fixed
from tests.runs.running import model_of, write_spec
from tests.runs.running import run as run_command

GOOD = '{"input": "q", "output": "a"}'
FIRST_BROKEN = [GOOD, '{"input": "q",', "[]", "nope", '{"input": NaN}', GOOD]
LAST_BROKEN = [GOOD] * 400 + ["{", GOOD, "[]"]
REPLY = '{"reason": "It is right.", "score": 4}'


def judged(provider: Provider, folder: Path, data: str, stdin: bytes = b"") -> str:
    """What the command prints of broken data; no call was made for it."""
    words = ("--evaluators", "llm-judge")
    judge = ("--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "JUDGE_KEY")
    done = evalsi_command("eval", "--data", data, *words, *judge, stdin=stdin, cwd=folder, variables={"JUDGE_KEY": KEY})
    assert done.code != 0
    assert provider.calls == 0
    return done.err


@pytest.mark.parametrize(("lines", "rows"), [(FIRST_BROKEN, [2, 3, 4, 5]), (LAST_BROKEN, [401, 403])])
@pytest.mark.parametrize("is_file", [True, False], ids=["file", "standard input"])
def test_j5_a_judge_is_not_paid_for_broken_lines(
    tmp_path: Path, lines: list[str], rows: list[int], is_file: bool
) -> None:
    text = "\n".join(lines).encode()
    (tmp_path / "qa.jsonl").write_bytes(text)
    with Provider(fixed(REPLY)) as provider:
        told = judged(provider, tmp_path, "qa.jsonl") if is_file else judged(provider, tmp_path, "-", text)
    for number in rows:
        assert f"line {number}" in told


@pytest.mark.parametrize("name", ["qa.json", "qa.csv"])
def test_j5_a_judge_is_not_paid_for_what_is_broken_in_other_formats(tmp_path: Path, name: str) -> None:
    if name == "qa.json":
        (tmp_path / name).write_text(f"[{', '.join([GOOD] * 300 + ['3', GOOD, 'null'])}]")
        places = ["element 301", "element 303"]
    else:
        (tmp_path / name).write_text("input,output\n" + "q,a\n" * 300 + "q\nq,a\nq,a,b\n")
        places = ["line 302", "line 304"]
    with Provider(fixed(REPLY)) as provider:
        told = judged(provider, tmp_path, name)
    assert all(place in told for place in places)


@pytest.mark.parametrize("as_iterator", [False, True])
def test_j5_rows_of_python_are_checked_before_a_judge_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_iterator: bool
) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path))
    rows: list[Any] = [{"input": "q", "output": "a"}] * 300 + [3, {"output": float("nan")}]
    with Provider(fixed(REPLY)) as provider:
        judge = {"model": MODEL, "base_url": provider.base_url, "api_key_env": "JUDGE_KEY"}
        evaluators = ["llm-judge"]
        with pytest.raises(DatasetError) as caught:
            evalsi.evaluate(iter(rows) if as_iterator else rows, evaluators, judge=judge, quiet=True)
        assert provider.calls == 0
    assert caught.value.details["rows"] == [301, 302]


def test_j5_a_run_names_all_broken_lines_before_it_asks_its_target(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon")) as provider:
        write_spec(tmp_path, model_of(provider))
        good = json.dumps({"question": "q", "answer": "a"})
        (tmp_path / "qa.jsonl").write_text("\n".join([good, "{", good, "[]", "3"]))
        done = run_command(tmp_path)
        assert provider.calls == 0
    assert done.code != 0
    assert all(f"line {number}" in done.err for number in (2, 4, 5))


def test_j5_free_evaluators_name_all_broken_lines_too(tmp_path: Path) -> None:
    (tmp_path / "qa.jsonl").write_text("\n".join(FIRST_BROKEN))
    done = evalsi_command("eval", "--data", "qa.jsonl", "--evaluators", "length", cwd=tmp_path)
    assert done.code != 0
    assert all(f"line {number}" in done.err for number in (2, 3, 4, 5))
