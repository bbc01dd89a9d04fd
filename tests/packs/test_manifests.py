"""plugin.toml of each built-in pack: written from the code, read by the catalog, true of the pack that starts."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

from evalsi_cli.main import main
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.planning.environments import ensure_environment, sdk_paths

PACKS = Path(__file__).parents[2] / "plugins/packs"
NAMES = ["core", "text", "rag", "judge", "safety"]


@pytest.mark.parametrize("name", NAMES)
def test_the_manifest_is_what_the_code_says(name: str) -> None:
    folder = PACKS / name
    environment = ensure_environment(folder, name)
    paths = ":".join(map(str, [folder / "src", *sdk_paths(environment)]))
    done = subprocess.run(
        [str(environment.python), "-m", "evalsi.manifest", f"evalsi_pack_{name}", "--check", "plugin.toml"],
        cwd=folder,
        env={"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_the_catalog_reads_it_and_knows_every_evaluator_by_its_short_name(name: str) -> None:
    catalog = default_catalog()
    tables = tomllib.loads((PACKS / name / "plugin.toml").read_text("utf-8"))["evaluators"]
    pack = catalog.pack(name)
    assert [info.name for info in pack.evaluators] == [table["name"] for table in tables]
    for info in pack.evaluators:
        assert catalog.resolve(info.name) == info
        assert catalog.resolve(f"{name}/{info.name}@{info.version}") == info
        assert catalog.resolve(f"builtin/{info.name}") == info


@pytest.mark.parametrize("name", NAMES)
def test_the_version_is_that_of_the_distribution(name: str) -> None:
    project = tomllib.loads((PACKS / name / "pyproject.toml").read_text("utf-8"))["project"]
    assert default_catalog().pack(name).version == project["version"]


@pytest.mark.parametrize("name", NAMES)
def test_every_evaluator_says_what_it_does_what_it_needs_and_what_each_param_is(name: str) -> None:
    for info in default_catalog().pack(name).evaluators:
        assert info.summary.endswith(".")
        assert info.needs
        assert info.outputs


@pytest.mark.parametrize("name", NAMES)
def test_the_doctor_starts_the_pack_and_finds_its_manifest_true(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", name]) == 0
    assert f"pack {name}: starts" in capsys.readouterr().out
