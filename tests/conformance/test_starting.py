"""The kit by itself starts what needs no kernel, as the kernel would; of the rest it says who can."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evalsi_conformance.manifest import read_manifest
from evalsi_conformance.starting import program_of
from evalsi_kernel.packs.manifests import load_manifest
from evalsi_kernel.planning.launches import launch_unrestricted
from tests.architecture.distributions import ROOT
from tests.conformance.packs import write_pack

EXAMPLES = ROOT / "examples"
WITHOUT_SDK = EXAMPLES / "packs" / "without-sdk"


def kit(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """`python -m evalsi_conformance`, as its author runs it."""
    command = [sys.executable, "-m", "evalsi_conformance", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_a_program_is_started_as_its_manifest_says() -> None:
    done = kit(WITHOUT_SDK)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("acme/keywords conforms: loads, behaves, trustworthy.\n")


def test_a_program_of_a_release_is_too() -> None:
    done = kit(WITHOUT_SDK, "--against", WITHOUT_SDK)
    assert done.stdout.endswith("acme/keywords conforms: loads, behaves, trustworthy, stable.\n"), done.stderr


def test_a_file_that_can_be_executed_needs_nothing_to_start_it(tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "tone")
    program = folder / "program.py"
    program.write_text(f"#!{sys.executable}\n{program.read_text('utf-8')}", "utf-8")
    refused = kit(folder, "--level", "loads")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "program.py cannot be executed: make it executable, or say what starts it" in refused.stderr
    program.chmod(0o755)
    done = kit(folder, "--level", "loads", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["conforms"] is True


def test_the_kernel_starts_the_same_command() -> None:
    pack = load_manifest(WITHOUT_SDK / "plugin.toml").to_pack(WITHOUT_SDK)
    command = launch_unrestricted(pack, lambda _: None).command
    assert command is not None
    assert program_of(WITHOUT_SDK, read_manifest(WITHOUT_SDK)[0]).argv == tuple(command.argv)


def test_a_pack_of_wasm_ends_in_one_sentence_that_says_who_can_check_it(tmp_path: Path) -> None:
    folder = tmp_path / "words"
    shutil.copytree(EXAMPLES / "wasm" / "words", folder)
    done = kit(folder)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: The pack acme/words runs as wasm, which the kit alone cannot start")
    assert f"`evalsi plugins check {folder}`" in line
    as_tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--evalsi-pack", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert as_tests.returncode == 1
    assert "evalsi plugins check" in as_tests.stdout
    assert "Traceback" not in as_tests.stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('options = { with = "python" }', 'options = { by = "python" }'), "has no option 'by'"),
        (('options = { with = "python" }', 'options = { with = "no-such" }'), "is not on the PATH: install it"),
        (('module = "keywords.py"', 'module = "other.py"'), "other.py is not there: build it"),
        (('runtime = "program"', 'runtime = "service"'), "check the folder it is served from"),
    ],
)
def test_a_program_that_cannot_be_started_is_told(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    shutil.copytree(WITHOUT_SDK, folder)
    text = (folder / "plugin.toml").read_text("utf-8")
    (folder / "plugin.toml").write_text(text.replace(*change), "utf-8")
    done = kit(folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
