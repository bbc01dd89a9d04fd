"""What is wrong with a manifest is told all at once, each with its place, and nothing is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalsi_conformance.manifest import read_manifest
from tests.conformance.packs import checked, write_pack

BROKEN = """
manifest = 2
name = "core"
version = 1
protocol = 2

[[evaluators]]
name = "a b"
version = "1"
scope = "world"
needs = ["outputs", "usage.latency_ms"]
asks = "judge"
outputs = [{ kind = "figure" }, { kind = "number", minimum = 2, maximum = 1 }]
params = 3

[[evaluators]]
name = "twice"
version = "1"
outputs = 3

[[evaluators]]
name = "twice"
version = "1"
"""


def test_every_problem_of_a_manifest_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "plugin.toml").write_text(BROKEN, "utf-8")
    report = checked(tmp_path)
    places = [one.message.removeprefix("plugin.toml: ").partition(" ")[0] for one in report.failed]
    assert places == [
        "manifest", "protocol", "version", "name", "summary", "run.module",
        "evaluators[0].name", "evaluators[0].scope", "evaluators[0].needs", "evaluators[0].asks",
        "evaluators[0].outputs[0].kind", "evaluators[0].outputs[1].minimum", "evaluators[0].params",
        "evaluators[1].outputs", "evaluators",
    ]  # fmt: skip
    assert {one.check for one in report.failed} == {"manifest"}


def test_a_plain_name_is_for_this_repositorys_own_packs(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", name="core")
    (problem,) = read_manifest(pack)[1]
    assert problem.what == 'is "core", and plain names are those of Evals.si\'s own packs'
    assert problem.hint == "Call it after its publisher, such as acme/core."
    assert read_manifest(pack, builtin=True)[1] == []


def test_a_pack_of_a_newer_protocol_asks_for_a_newer_kit(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack")
    text = (pack / "plugin.toml").read_text("utf-8").replace("protocol = 1", "protocol = 2")
    (pack / "plugin.toml").write_text(text, "utf-8")
    (fault,) = checked(pack).failed
    assert fault.message == "plugin.toml: protocol is 2, and this kit speaks 1."
    assert "newer evalsi-conformance" in fault.hint


@pytest.mark.parametrize("text", [None, "manifest = ", b"\xff"])
def test_a_manifest_that_cannot_be_read_is_one_problem(text: str | bytes | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "plugin.toml").write_bytes(text.encode() if isinstance(text, str) else text)
    assert len(checked(tmp_path).failed) == 1
