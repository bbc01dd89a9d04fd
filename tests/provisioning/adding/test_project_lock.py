"""evalsi.lock: damaged, of a newer version, changed by two at once; and the runs that it stops."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.errors import ConfigError, PackError
from evalsi_kernel.extensions.hook_calls import admission
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.planning.launches import launch_pack
from evalsi_provisioning.project_lock import read_project_lock
from tests.cli.running import EVALSI, QA, evalsi
from tests.provisioning.adding.third_party import added, recorded, write_pack

LOCK = "evalsi.lock"


@pytest.fixture
def style(project: Path, tmp_path: Path) -> Path:
    """The folder of a pack that was added."""
    added(write_pack(tmp_path / "style"), project)
    return project / ".evalsi" / "packs" / "acme+style"


def edited(project: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    tables = json.loads((project / LOCK).read_text("utf-8"))
    edit(tables)
    (project / LOCK).write_text(json.dumps(tables), "utf-8")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is damaged"),
        (b'{"lock": 1, "packs": {', "is damaged"),
        (b"[]", "is damaged"),
        (b"\xff", "is damaged"),
        (b"[" * 100_000, "is damaged"),
        (b'{"lock": 2, "packs": {}}', "is of format 2"),
        (b'{"packs": {}}', "lock: Field required"),
        (b'{"lock": 1}', "packs: Field required"),
        (b'{"lock": 1, "packs": {}, "more": 1}', "more: Extra inputs"),
        (b'{"lock": 1, "packs": {"Acme": {}}}', "is damaged"),
        (b'{"lock": 1, "packs": {"acme/style": {"version": "1"}}}', "acme/style.files_sha256: Field required"),
        (b" " * 5_000_000, "is larger than"),
    ],
)
def test_one_that_cannot_be_read_stops_a_run_and_every_change(content: bytes, said: str, style: Path) -> None:
    project = style.parents[2]
    (project / LOCK).write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        read_project_lock(project)
    assert refused.value.code == "config.evalsi_lock"
    assert said in refused.value.message
    with pytest.raises(ConfigError):
        launch_pack(default_catalog().pack("acme/style"), None)
    done = evalsi("plugins", "remove", "acme/style", cwd=project)
    assert done.code == 1
    assert (project / LOCK).read_bytes() == content


@pytest.mark.parametrize("key", ["artifact_sha256", "manifest_sha256", "files_sha256", "granted"])
def test_one_without_a_digest_is_damaged(key: str, style: Path) -> None:
    project = style.parents[2]
    edited(project, lambda tables: tables["packs"]["acme/style"].pop(key))
    with pytest.raises(ConfigError, match=f"{key}: Field required"):
        read_project_lock(project)


def append(path: Path) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("# more\n")


def spoil_code(folder: Path) -> None:
    append(folder / "src" / "acme_style.py")


def spoil_lock(folder: Path) -> None:
    append(folder / "uv.lock")


def spoil_manifest(folder: Path) -> None:
    manifest = folder / "plugin.toml"
    manifest.write_text(manifest.read_text("utf-8").replace("1.0.0", "1.0.1"), "utf-8")


def spoil_with_a_file(folder: Path) -> None:
    (folder / "src" / "sitecustomize.py").write_text("print(1)\n")


def spoil_with_compiled_code(folder: Path) -> None:
    (folder / "src" / "__pycache__").mkdir()
    (folder / "src" / "__pycache__" / "acme_style.cpython-311.pyc").write_bytes(b"x")


def spoil_with_a_link(folder: Path) -> None:
    (folder / "src" / "more.py").symlink_to("acme_style.py")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoil_code, "SHA-256 of its files"),
        (spoil_lock, "SHA-256 of uv.lock"),
        (spoil_manifest, "version: 1.0.0 → 1.0.1"),
        (spoil_with_a_file, "SHA-256 of its files"),
        (spoil_with_a_link, "SHA-256 of its files"),
        (spoil_with_compiled_code, "SHA-256 of its files"),
    ],
)
def test_whatever_differs_stops_a_run_before_anything_of_it_is_built_or_run(
    spoil: Callable[[Path], None], said: str, style: Path
) -> None:
    spoil(style)
    with pytest.raises(PackError) as stopped:
        launch_pack(default_catalog().pack("acme/style"), None)
    assert stopped.value.code == "pack.changed"
    assert said in stopped.value.message
    assert "plugins add --locked" in stopped.value.hint


def test_every_door_is_held_to_it(style: Path) -> None:
    project = style.parents[2]
    spoil_code(style)
    done = evalsi("eval", "--data", QA, "--evaluators", "acme/style/polite", cwd=project)
    assert done.code == 1
    assert "is not what" in done.err
    script = f"import evalsi; evalsi.evaluate({str(QA)!r}, ['acme/style/polite'])"
    done_python = subprocess.run(
        [sys.executable, "-c", script], cwd=project, capture_output=True, text=True, timeout=60, check=False
    )
    assert "is not what" in done_python.stderr
    others = evalsi("eval", "--data", QA, "--evaluators", "exact-match", cwd=project)
    assert others.code == 0


def test_wider_permissions_than_granted_stop_a_run(style: Path) -> None:
    edited(style.parents[2], lambda tables: tables["packs"]["acme/style"]["granted"].update(memory_mb=64))
    launch_pack(default_catalog().pack("acme/style"), None)
    manifest = style / "plugin.toml"
    manifest.write_text(
        manifest.read_text("utf-8").replace("[[evaluators]]", '[permissions]\nnetwork = ["x.org"]\n\n[[evaluators]]')
    )
    with pytest.raises(PackError, match=r"\+ network: x\.org"):
        launch_pack(default_catalog().pack("acme/style"), None)


def test_a_folder_that_was_put_among_the_packs_is_not_run_also_under_a_plain_name(project: Path) -> None:
    write_pack(project / ".evalsi" / "packs" / "sneaked", "acme/sneaked")
    write_pack(project / ".evalsi" / "packs" / "plain", "readability")
    for name in ("acme/sneaked", "readability"):
        with pytest.raises(PackError, match="does not name it") as refused:
            launch_pack(default_catalog().pack(name), None)
        assert refused.value.code == "pack.not_added"


def test_a_pack_of_a_builtin_name_among_the_packs_does_not_hide_the_builtin_one(project: Path) -> None:
    write_pack(project / ".evalsi" / "packs" / "core", "core")
    catalog = default_catalog()
    assert ".evalsi" not in str(catalog.pack("core").folder)
    assert any('Two packs are named "core"' in warning for warning in catalog.warnings)


def test_ones_own_pack_runs_as_it_is_unless_the_lock_names_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = write_pack(tmp_path / "mine" / "style", body="return False")
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", str(own))
    pack = default_catalog().pack("acme/style")
    launch = launch_pack(pack, None)
    assert launch.command is not None
    assert admission(pack, default_extensions())(launch) == launch
    added(write_pack(tmp_path / "style"), project)
    with pytest.raises(PackError, match="is not what"):
        launch_pack(default_catalog().pack("acme/style"), None)


def test_many_that_add_at_once_to_one_project_are_all_recorded(project: Path, tmp_path: Path) -> None:
    names = [f"acme/pack-{number}" for number in range(4)]
    folders = [write_pack(tmp_path / str(number), name, evaluator=f"e{number}") for number, name in enumerate(names)]
    commands = [[EVALSI, "plugins", "add", str(folder), "--no-start"] for folder in folders]
    running = [subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE) for command in commands]
    for one in running:
        one.communicate(timeout=60)
    assert [one.returncode for one in running] == [0] * len(running)
    assert sorted(recorded(project)) == names
    assert len([path for path in (project / ".evalsi" / "packs").iterdir() if path.name != ".lock"]) == len(names)


def test_two_projects_that_add_one_pack_at_once_share_its_environment(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    projects = [project, tmp_path / "second"]
    projects[1].mkdir()
    command = [EVALSI, "plugins", "add", str(folder)]
    running = [subprocess.Popen(command, cwd=one, stdout=subprocess.PIPE) for one in projects]
    for one in running:
        one.communicate(timeout=60)
    assert [one.returncode for one in running] == [0, 0]
    assert recorded(projects[0]) != {}
    assert recorded(projects[0])["acme/style"] == recorded(projects[1])["acme/style"]
