"""EVALSI_REATTACH: what is scored is scored by the process that a developer has under his debugger."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.running import evalsi
from tests.provisioning.adding.third_party import write_pack
from tests.provisioning.services.running import debugging, outcomes, scored


@pytest.fixture
def pack(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pack whose author works on it: it says by which process it scores, and takes longer than it may."""
    body = "import time; time.sleep(0.3); return os.getpid()"
    folder = write_pack(project / "style", body=body)
    manifest = folder / "plugin.toml"
    manifest.write_text(manifest.read_text().replace("record_timeout_s = 20", "record_timeout_s = 0.1"))
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", str(folder))
    return folder


def test_the_process_under_the_debugger_scores_run_after_run_and_takes_its_time(
    project: Path, pack: Path, at: str
) -> None:
    _, plain = scored(project)
    assert outcomes(plain) == ["error", "error", "skipped"]
    with debugging(pack, "acme/style", at) as process:
        assert process.wait_for("EVALSI_REATTACH=").split() == [
            f"EVALSI_REATTACH=acme/style={at}",
            "evalsi",
            "eval",
            "…",
        ]
        for _ in range(2):
            done, results = scored(project, EVALSI_REATTACH=f"acme/other-name={at} acme/style={at}".split()[1])
            assert done.code == 0, done.err
            assert outcomes(results) == ["scored", "scored", "skipped"]
            assert [one["scores"][0]["value"] for one in results[:2]] == [process.process.pid] * 2
    assert process.process.pid != os.getpid()
    packs = json.loads((project / "results.json").read_text())["manifest"]["packs"]
    assert packs == [{"name": "acme/style", "version": "1.0.0+reattached", "lock_sha256": None}]


def test_a_pack_that_was_added_is_debugged_in_the_project_that_uses_it(
    project: Path, pack: Path, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVALSI_PLUGIN_PATH")
    assert evalsi("plugins", "add", pack, "--grant", "all", "--no-start", cwd=project).code == 0
    with debugging(pack, "acme/style", at) as process:
        done, results = scored(project, EVALSI_REATTACH=f"acme/style={at}")
        assert done.code == 0, done.err
        assert [one["scores"][0]["value"] for one in results[:2]] == [process.process.pid] * 2
        (project / ".evalsi" / "packs" / "acme+style" / "plugin.toml").write_text("# another")
        assert scored(project, EVALSI_REATTACH=f"acme/style={at}")[0].code == 1


def test_a_port_of_this_machine_does_too(project: Path, pack: Path) -> None:
    with debugging(pack, "acme/style", "tcp://127.0.0.1:0") as process:
        _, results = scored(project, EVALSI_REATTACH=f"acme/style={process.address}")
    assert outcomes(results) == ["scored", "scored", "skipped"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("acme/stile=unix:///nowhere", "'acme/stile', which is not a pack.\n  Did you mean \"acme/style\"?"),
        ("acme/style", "'acme/style', which has no address.\n  Write NAME=ADDRESS"),
        ("acme/style=nowhere", '"nowhere" is no address of a service'),
        ("acme/style=tcp://10.0.0.1:1", "leaves this machine"),
        ("acme/style=unix:///nowhere", "Nobody answers at unix:///nowhere for the pack acme/style"),
    ],
)
def test_what_cannot_be_reattached_is_told_and_nothing_else_is_started(
    value: str, told: str, project: Path, pack: Path
) -> None:
    done, results = scored(project, EVALSI_REATTACH=value)
    assert done.code != 0
    assert results == []
    assert told in done.err


def test_a_pack_that_is_not_named_runs_as_ever(project: Path, pack: Path, at: str) -> None:
    with debugging(pack, "acme/style", at) as process:
        words = ("eval", "--data", "data.jsonl", "--evaluators", "exact-match")
        (project / "data.jsonl").write_text('{"output": "a", "reference": "a"}\n')
        done = evalsi(*words, cwd=project, variables={"EVALSI_REATTACH": f"acme/style={process.address}"})
    assert done.code == 0, done.err
