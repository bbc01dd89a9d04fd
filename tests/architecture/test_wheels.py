"""Every wheel stands alone: built, installed into an empty environment with what it declares, and imported there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import uv

from tests.architecture.distributions import ROOT, Distribution, distributions, module_of, read_toml
from tests.providers import KEY, MODEL, Provider, fixed

pytestmark = [pytest.mark.wheels, pytest.mark.timeout(600)]

UV = uv.find_uv_bin()
DEFAULT = {line.partition("==")[0] for line in read_toml(ROOT / "pyproject.toml")["project"]["dependencies"]}
ENVIRONMENT = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(str(part) for part in command)}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of every distribution, the metapackage included."""
    folder = tmp_path_factory.mktemp("wheels")
    run(UV, "build", "--quiet", "--all-packages", "--wheel", "--out-dir", folder, cwd=ROOT)
    for distribution in distributions():
        if not distribution.is_member:
            run(UV, "build", "--quiet", "--wheel", "--out-dir", folder, distribution.path, cwd=ROOT)
    return folder


def wheel(name: str, folder: Path) -> Path:
    (path,) = folder.glob(f"{name.replace('-', '_')}-*.whl")
    return path


def closure(name: str) -> set[str]:
    """The distributions of this repository that `name` declares, directly or through one another, and itself."""
    declared = {one.project["name"]: one.declared for one in distributions()} | {"evalsi": DEFAULT}
    found, wanted = set[str](), {name}
    while wanted:
        found |= wanted
        wanted = {need for one in wanted for need in declared[one] if need in declared} - found
    return found


def install(name: str, wheels: Path, folder: Path, *others: str) -> Path:
    """Install one distribution into a new environment, ours by file so that no index can answer for them.

    `others` are requirements of third parties, as an extra would bring them.

    Returns the environment's interpreter.
    """
    environment = folder / "environment"
    run(UV, "venv", "--quiet", "--python", sys.executable, environment, cwd=folder)
    python = environment / "bin" / "python"
    ours = [wheel(one, wheels) for one in sorted(closure(name))]
    run(UV, "pip", "install", "--quiet", "--python", python, *ours, *others, cwd=folder)
    return python


def extra_libraries(distribution: Distribution) -> set[str]:
    """The modules that only an extra of a distribution brings."""
    extras = distribution.project.get("optional-dependencies", {}).values()
    return {module_of(re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0]) for extra in extras for line in extra}


@pytest.mark.parametrize("distribution", distributions(), ids=lambda one: one.folder)
def test_a_wheel_installs_alone_and_every_module_of_it_imports(
    distribution: Distribution, wheels: Path, tmp_path: Path
) -> None:
    python = install(distribution.project["name"], wheels, tmp_path)
    walk = f"""
import importlib, pkgutil
import {distribution.package} as top
for module in pkgutil.walk_packages(top.__path__, top.__name__ + "."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            # What only an extra brings may be missing; nothing else.
            if error.name not in {extra_libraries(distribution)!r}:
                raise
print(top.__file__)
"""
    where = run(python, "-I", "-c", walk, cwd=tmp_path)
    assert str(tmp_path) in where, "the module came from somewhere else than from the wheel"


def test_the_metapackage_brings_the_command_and_the_built_in_packs(wheels: Path, tmp_path: Path) -> None:
    python = install("evalsi", wheels, tmp_path)
    assert (python.parent / "evalsi").is_file()
    for pack in (one for one in distributions() if one.folder.startswith("plugins/packs/")):
        carried = python.parent.parent / "share" / "evalsi" / "packs" / pack.path.name
        assert {path.name for path in carried.iterdir()} >= {
            "plugin.toml",
            "pyproject.toml",
            "uv.lock",
            "README.md",
            "src",
        }
        assert list((carried / "src").rglob("*.py"))


def test_an_installed_evalsi_scores_a_file_with_packs_that_the_checkout_does_not_give(
    wheels: Path, tmp_path: Path
) -> None:
    python = install("evalsi", wheels, tmp_path)
    data = tmp_path / "qa.jsonl"
    data.write_bytes((ROOT / "examples" / "quickstart" / "qa.jsonl").read_bytes())
    scored = subprocess.run(
        [python.parent / "evalsi", "eval", "--data", data, "--evaluators", "exact-match,numeric-match,latency,rouge"],
        cwd=tmp_path,
        env={**ENVIRONMENT, "EVALSI_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert scored.returncode == 0, scored.stderr
    assert "exact-match    6  0.333" in scored.stdout
    assert "building the environment of core (first use)" in scored.stderr
    assert str(ROOT) not in scored.stderr


def test_the_extra_anthropic_brings_what_asks_claude(wheels: Path, tmp_path: Path) -> None:
    (root,) = read_toml(ROOT / "pyproject.toml")["project"]["optional-dependencies"]["anthropic"]
    assert root == "evalsi-connectors[anthropic]"
    extra = read_toml(ROOT / "plugins/extensions/connectors/pyproject.toml")["project"]["optional-dependencies"]
    python = install("evalsi", wheels, tmp_path, *extra["anthropic"])
    data = ROOT / "examples" / "quickstart" / "qa.jsonl"
    with Provider(fixed('{"reason": "It is right.", "score": 5}')) as provider:
        words = ["--judge-provider", "anthropic", "--judge-model", MODEL, "--judge-base-url", provider.root_url]
        words += ["--judge-api-key-env", "JUDGE_KEY"]
        scored = subprocess.run(
            [python.parent / "evalsi", "eval", "--data", data, "--evaluators", "llm-judge", *words],
            cwd=tmp_path,
            env={**ENVIRONMENT, "EVALSI_CACHE_DIR": str(tmp_path / "cache"), "JUDGE_KEY": KEY},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert scored.returncode == 0, scored.stderr
    assert "llm-judge  6  1.000" in scored.stdout
