"""Test third-party packs: clashing names and misbehaving packs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.pack_folders import write_pack
from tests.cli.running import QA, Done, evalsi, write_jsonl


def run(folder: Path, *words: str | Path) -> Done:
    return evalsi("eval", *words, cwd=folder, variables={"EVALSI_PLUGIN_PATH": str(folder / "packs")})


def test_a_short_name_of_two_packs_is_an_error_that_lists_both(tmp_path: Path) -> None:
    write_pack(tmp_path / "packs", "acme/style", "polite")
    write_pack(tmp_path / "packs", "zenith/tone", "polite")
    done = run(tmp_path, "--data", QA, "--evaluators", "polite")
    assert (done.code, done.out) == (1, "")
    assert "acme/style/polite" in done.err
    assert "zenith/tone/polite" in done.err


def test_the_full_name_of_each_of_two_such_packs_works_also_for_both_in_one_run(tmp_path: Path) -> None:
    write_pack(tmp_path / "packs", "acme/style", "polite")
    write_pack(tmp_path / "packs", "zenith/tone", "polite", "return False")
    words = "acme/style/polite,other=zenith/tone/polite"
    done = run(tmp_path, "--data", QA, "--evaluators", words, "--format", "json")
    assert done.code == 0, done.err
    assert [one["mean"] for one in json.loads(done.out)["summaries"]] == [1.0, 0.0]


def test_a_pack_that_takes_a_builtin_name_makes_it_ambiguous_and_builtin_says_which(tmp_path: Path) -> None:
    write_pack(tmp_path / "packs", "acme/own", "exact-match")
    ambiguous = run(tmp_path, "--data", QA, "--evaluators", "exact-match")
    assert ambiguous.code == 1
    assert "core/exact-match" in ambiguous.err
    assert "acme/own/exact-match" in ambiguous.err
    done = run(tmp_path, "--data", QA, "--evaluators", "builtin/exact-match")
    assert done.code == 0, done.err
    assert "0.333" in done.out


def test_a_pack_cannot_take_memory_without_end(tmp_path: Path) -> None:
    code = "hoard = []\n    while record.output.as_text() == 'bad': hoard.append(bytearray(1 << 24))\n    return True"
    write_pack(tmp_path / "packs", "acme/hungry", "hungry", code, memory_mb=64)
    data = write_jsonl(tmp_path / "data.jsonl", [{"output": text} for text in ("a", "bad", "b", "c")])
    done = run(tmp_path, "--data", data, "--evaluators", "hungry", "--output", "results.json")
    assert done.code == 0, done.err
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))["results"]
    assert [one["outcome"] for one in results] == ["scored", "error", "scored", "scored"]


def test_a_pack_sees_no_key_of_its_caller(tmp_path: Path) -> None:
    code = "return not [name for name in os.environ if 'KEY' in name or 'TOKEN' in name]"
    write_pack(tmp_path / "packs", "acme/spy", "blind", code)
    variables = {"EVALSI_PLUGIN_PATH": str(tmp_path / "packs"), "OPENAI_API_KEY": "secret", "HF_TOKEN": "secret"}
    done = evalsi("eval", "--data", QA, "--evaluators", "blind", "--format", "json", variables=variables)
    assert json.loads(done.out)["summaries"][0]["mean"] == 1.0
