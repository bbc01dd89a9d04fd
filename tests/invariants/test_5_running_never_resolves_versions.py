"""Fifth invariant: environments come from locks with hashes or not at all; what is not enforced is called declared."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from evalsi_cli.main import main
from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.planning.environments import ensure_environment
from evalsi_provisioning import build, confined_start
from evalsi_provisioning.confinement import this_host
from evalsi_provisioning.permissions import Host

ROOT = Path(__file__).parents[2]
PACKS = sorted(path.parent for path in ROOT.glob("plugins/packs/*/plugin.toml"))

NOTES_WHAT_IT_IS_ASKED = """#!{python} -I
import json, sys
with open({log!r}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
"""


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_every_package_of_a_built_in_packs_lock_has_hashes_for_all_its_files(pack: Path) -> None:
    lock = tomllib.loads((pack / "uv.lock").read_text(encoding="utf-8"))
    from_registry = [package for package in lock["package"] if "registry" in package["source"]]
    assert from_registry
    for package in from_registry:
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        assert files
        assert all(file["hash"].startswith("sha256:") for file in files)


@pytest.mark.parametrize(
    ("index", "expected"), [("", ["sync"]), ("https://index.invalid/simple", ["sync", "export", "pip"])]
)
def test_whatever_uv_is_asked_for_installs_from_the_frozen_lock_with_hashes_and_resolves_nothing(
    index: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, program = tmp_path / "log", tmp_path / "uv"
    program.write_text(NOTES_WHAT_IT_IS_ASKED.format(python=sys.executable, log=str(log)))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(build, "find_uv", lambda: str(program))
    for name in build.INDEX_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "cache"))
    if index:
        monkeypatch.setenv("UV_DEFAULT_INDEX", index)
    with pytest.raises(PackEnvironmentError, match="does not work"):  # This uv has built nothing.
        ensure_environment(PACKS[0], "core")
    asked = [words for words in map(json.loads, log.read_text().splitlines()) if words[0] != "venv"]
    assert [words[0] for words in asked] == expected
    for words in asked:
        wanted = {"--require-hashes", "--no-deps", "--only-binary"} if words[0] == "pip" else {"--frozen", "--no-dev"}
        assert wanted <= set(words)


def test_a_pack_without_a_lock_is_refused_and_nothing_is_installed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "free"\nversion = "1"\ndependencies = ["msgpack"]\n')
    with pytest.raises(PackEnvironmentError) as caught:
        ensure_environment(tmp_path, "free")
    assert caught.value.code == "environment.no_lock"


@pytest.mark.parametrize("holds", [Host(True, True, True), Host(True, False, True), Host(False, False, False)])
def test_what_is_not_enforced_here_is_called_declared(
    holds: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "this_host", lambda: holds)
    main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    # Nothing holds a pack that was not added to a project; one that was is held to what this host can.
    assert [line.split()[0] for line in lines if "packs of Evals.si" in line] == ["declared"]
    told = {line.rpartition(" to the ")[2].split()[0]: line.split()[0] for line in lines if "added packs: " in line}
    assert told == {kind: "enforced" if held else "declared" for kind, held in holds._asdict().items()}
    assert sum(line.startswith("enforced") for line in lines) == sum(holds)


def test_what_this_host_is_said_to_enforce_was_tried_on_it() -> None:
    tried = this_host()
    for wall in ("network", "files"):
        rules = {"network": False, "files": False, "read": ["/usr", "/lib", "/lib64"], "write": [], "home": "scratch"}
        command = [sys.executable, "-I", "-S", confined_start.__file__, json.dumps(rules | {wall: True}), "--"]
        done = subprocess.run(command, capture_output=True, check=True, timeout=60)
        assert json.loads(done.stdout)[wall] is getattr(tried, wall)
