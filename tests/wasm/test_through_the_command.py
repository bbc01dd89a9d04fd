"""Wasm packs as a user meets them: found, listed, started, scored with, beside other packs and by a judge."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalsi_cli.commands.catalog import listing, shown
from evalsi_cli.environment_states import environment_states
from evalsi_cli.listing import Wanted
from evalsi_cli.pack_json import json_of, listing_json
from evalsi_cli.pack_text import text_of
from evalsi_kernel.errors import EvalsiError
from evalsi_kernel.extensions.hook_calls import runtime_launch
from evalsi_kernel.extensions.installed import Extensions
from evalsi_kernel.packs.manifests import load_manifest
from evalsi_wasm.plugin import MAX_INSTANCES, evalsi_runtime
from tests.cli.running import QA, Done, evalsi, write_jsonl
from tests.providers import KEY, MODEL, Provider, Request
from tests.wasm.hosting import EXAMPLES
from tests.wasm.wat import FOR_EVER, guest, where

MANIFEST = """\
manifest = 1
name = "acme/{name}"
version = "1.0"
summary = "A module of a test."
protocol = 1

[run]
runtime = "wasm"
module = "{name}.wasm"
record_timeout_s = {record_timeout_s}
memory_mb = 128
{more}

[[evaluators]]
name = "tested"
version = "1"
needs = ["output"]
outputs = [{{ name = "", kind = "pass" }}]
"""


@pytest.fixture(autouse=True)
def search_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", f"{EXAMPLES}:{tmp_path / 'packs'}")


def write_pack(tmp_path: Path, name: str, code: bytes, *, record_timeout_s: float = 30, more: str = "") -> Path:
    folder = tmp_path / "packs" / name
    folder.mkdir(parents=True)
    (folder / "plugin.toml").write_text(MANIFEST.format(name=name, record_timeout_s=record_timeout_s, more=more))
    (folder / f"{name}.wasm").write_bytes(code)
    return folder


def evaluate(*words: str | Path) -> Done:
    return evalsi("eval", "--data", QA, *words)


def test_a_module_scores_beside_python_packs_and_its_digest_stands_in_the_results(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    done = evaluate("--evaluators", "exact-match,acme/same-words,words-per-answer", "--output", results)
    assert done.code == 0, done.err
    lines = {line.split()[0]: line.split()[1:3] for line in done.out.splitlines() if line and line[0].isalpha()}
    assert lines["same-words"] == lines["exact-match"] == ["6", "0.333"]
    assert lines["words-per-answer"] == ["6", "3.667"]
    packs = {pack["name"]: pack for pack in json.loads(results.read_text())["manifest"]["packs"]}
    assert len(packs["acme/words"]["lock_sha256"]) == 64


def test_the_catalog_shows_what_runs_it() -> None:
    pack = load_manifest(EXAMPLES / "words" / "plugin.toml").to_pack(EXAMPLES / "words")
    (found,) = listing([pack], Wanted())
    (state,) = environment_states([pack])
    (listed,) = json.loads(listing_json([json_of(*found)], [state]))["packs"]
    assert (listed["runtime"], listed["environment"]) == ("wasm", "not needed")
    assert (
        shown(text_of(*found), state)
        .splitlines()[0]
        .endswith(
            "acme/words 1.0.0 (community, by acme; runs as wasm): What the words of an answer tell: the same as the "
            "reference's, how many, how many on average."
        )
    )


def test_the_doctor_starts_it_and_no_environment_is_wanted() -> None:
    assert "pack acme/kind: runs as wasm, which needs no environment" in evalsi("doctor").out
    done = evalsi("doctor", "acme/words")
    assert done.code == 0, done.out
    assert "starts, and its 3 evaluators agree with plugin.toml" in done.out
    assert "acme/words: runs as wasm, which needs no environment" in evalsi("plugins", "sync", "acme/words").out


def test_a_judge_answers_what_a_module_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    data = write_jsonl(tmp_path / "data.jsonl", [{"output": text} for text in ("thank you", "go away", "thank me")])

    def answer(request: Request) -> str:
        return json.dumps({"kind": "thank" in request.prompt})

    with Provider(answer) as provider:
        judge = ("--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "JUDGE_KEY")
        done = evalsi("eval", "--data", data, "--evaluators", "kind,characters", *judge, "--no-cache")
    assert done.code == 0, done.err
    assert [line.split()[1:3] for line in done.out.splitlines() if line.startswith("kind ")] == [["3", "0.667"]]


@pytest.mark.abi("WAB-17")
def test_a_record_on_which_a_module_hangs_is_one_error_and_the_others_are_scored(tmp_path: Path) -> None:
    write_pack(tmp_path, "hangs", guest(where("!", FOR_EVER)), record_timeout_s=1)
    data = write_jsonl(tmp_path / "data.jsonl", [{"output": text} for text in ("a", "b!", "c")])
    results = tmp_path / "results.json"
    done = evalsi("eval", "--data", data, "--evaluators", "acme/tested", "--output", results)
    assert [line.split()[1] for line in done.out.splitlines() if line.startswith("tested")] == ["2"]
    errors = [one["error"] for one in json.loads(results.read_text())["results"] if "error" in one]
    assert [error["code"] for error in errors] == ["pack.timeout"]


def test_a_module_that_cannot_be_run_ends_the_evaluation_with_its_one_sentence(tmp_path: Path) -> None:
    folder = write_pack(tmp_path, "empty", b"")
    done = evaluate("--evaluators", "acme/tested")
    assert done.code == 1
    assert done.err.strip().splitlines() == [
        "error: The pack acme/empty refused to start: empty.wasm is empty.",
        "  Build it again, or install the pack again.",
    ]
    (folder / "empty.wasm").unlink()
    done = evaluate("--evaluators", "acme/tested")
    assert done.code == 1
    assert "The pack acme/empty has no module: " in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("options = { fuel = 1_000_000 }", "has no option 'fuel'"),
        ("options = { fuel_per_record = 1 }", "takes fuel_per_record as a whole number from 1,000 on, not 1"),
        ("options = { instances = true }", "takes instances as a whole number from 1 on, not True"),
    ],
)
def test_options_that_the_runtime_does_not_have_are_refused(more: str, told: str, tmp_path: Path) -> None:
    folder = write_pack(tmp_path, "options", guest(), more=more)
    with pytest.raises(EvalsiError) as raised:
        evalsi_runtime(load_manifest(folder / "plugin.toml").to_pack(folder))
    assert told in raised.value.message
    assert raised.value.code == "pack.manifest"


@pytest.mark.abi("WAB-18", "WAB-19")
def test_the_command_has_the_limits_of_the_manifest(tmp_path: Path) -> None:
    more = 'workers = "wide"\noptions = { fuel_per_record = 5_000, instances = 4 }'
    folder = write_pack(tmp_path, "limits", guest(), more=more)
    flags = flags_of(folder)
    assert (flags["instances"], flags["fuel"], flags["memory-bytes"]) == ("4", "5000", str(16 * 1024**2))
    shutil.rmtree(folder)
    alone = flags_of(write_pack(tmp_path, "limits", guest()))
    assert (alone["instances"], alone["fuel"], alone["memory-bytes"]) == ("1", "0", str(64 * 1024**2))
    shutil.rmtree(folder)
    wide = flags_of(write_pack(tmp_path, "limits", guest(), more='workers = "wide"'))
    assert 1 <= int(wide["instances"]) <= MAX_INSTANCES


def flags_of(folder: Path) -> dict[str, Any]:
    launch = evalsi_runtime(load_manifest(folder / "plugin.toml").to_pack(folder))
    assert launch is not None
    assert launch.command is not None
    assert launch.command.argv[1:4] == ["-I", "-m", "evalsi_wasm.runner"]
    return dict(word.removeprefix("--").split("=", 1) for word in launch.command.argv[4:])


def test_wasmtime_is_loaded_by_the_runner_only() -> None:
    code = "import sys, evalsi_wasm.plugin; print([name for name in sys.modules if name.startswith('wasmtime')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_without_the_extension_a_run_says_what_to_install() -> None:
    pack = load_manifest(EXAMPLES / "words" / "plugin.toml").to_pack(EXAMPLES / "words")
    with pytest.raises(EvalsiError) as raised:
        runtime_launch(pack, Extensions())
    assert raised.value.message == 'No installed extension runs packs of the runtime "wasm".'
    assert raised.value.hint == "Install it: pip install 'evalsi-wasm'"
