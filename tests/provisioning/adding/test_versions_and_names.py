"""P5, P6, P7 and P10: versions that differ, git and file addresses, narrower permissions, names that are taken."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalsi_conformance.manifest import read_manifest
from evalsi_conformance.versions import is_same_version
from evalsi_kernel.errors import ConfigError, PackError, UsageError
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_provisioning.adding import Proposal, Rules, add, needs_grant
from evalsi_provisioning.pack_actions import shared_names
from evalsi_provisioning.pack_sources import source_of
from evalsi_provisioning.permissions import Permissions, widened, widened_kinds
from tests.cli.running import evalsi
from tests.provisioning.adding.third_party import added, granting, recorded, wheel_of, write_pack, zip_of

WHEEL = "acme_style-1.0.0-py3-none-any.whl"


def write_project(folder: Path, version: str) -> None:
    (folder / "pyproject.toml").write_text(f'[project]\nname = "acme-style"\nversion = "{version}"\n', "utf-8")


@pytest.mark.parametrize("version", ["1.0.1", "2.0.0", "1.0.0rc1"])
def test_p5_a_pyproject_of_another_version_is_refused_at_add_and_at_check(
    version: str, project: Path, tmp_path: Path
) -> None:
    folder = write_pack(tmp_path / "style")
    write_project(folder, version)
    for source in (folder, zip_of(folder, tmp_path / "style.zip")):
        with pytest.raises(PackError) as refused:
            added(source, project)
        assert refused.value.code == "pack.manifest"
        assert version in refused.value.message
    assert [problem.at for problem in read_manifest(folder)[1]] == ["version"]


def test_p5_an_environment_is_not_built_for_a_pack_of_two_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_pack(tmp_path / "style")
    write_project(folder, "1.0.1")
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", str(folder))
    done = evalsi("plugins", "sync", "acme/style", cwd=tmp_path)
    assert (done.code, "1.0.1" in done.out) == (1, True)


@pytest.mark.parametrize("version", ["1.0.0", "1.0", "v1"])
def test_p5_a_version_that_is_only_written_otherwise_is_the_same(version: str, project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    write_project(folder, version)
    assert read_manifest(folder)[1] == []
    assert added(folder, project).entry.version == "1.0.0"


def test_p5_a_wheel_of_another_version_is_refused(project: Path, tmp_path: Path) -> None:
    wheel = wheel_of(write_pack(tmp_path / "style"), tmp_path / WHEEL, wheel_version="1.0.1")
    with pytest.raises(PackError) as refused:
        added(wheel, project)
    assert (refused.value.code, "1.0.1" in refused.value.message) == ("pack.manifest", True)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1.0", "1.0.0", True),
        ("1.0rc1", "1.0.0-rc.1", True),
        ("1.0.post1", "1.0-post1", True),
        ("01.2", "1.2", True),
        ("1.0", "1.0.1", False),
        ("1.0", "1.0rc1", False),
        ("1.0+a", "1.0+b", False),
        ("10", "1", False),
    ],
)
def test_p5_versions_are_compared_as_python_does(one: str, other: str, *, same: bool) -> None:
    assert is_same_version(one, other) is same


def test_p5_a_rebuilt_wheel_does_not_replace_the_release_of_its_version(project: Path, tmp_path: Path) -> None:
    folder, wheel = write_pack(tmp_path / "style"), tmp_path / WHEEL
    added(wheel_of(folder, wheel), project)
    before = recorded(project)
    write_pack(folder, body="return False")
    wheel_of(folder, wheel)
    with pytest.raises(PackError) as refused:
        added(wheel, project, may_change=True)
    assert (refused.value.code, recorded(project)) == ("pack.version", before)
    write_pack(folder, body="return False", version="1.0.1")
    assert added(wheel_of(folder, wheel), project, may_change=True).entry.version == "1.0.1"


def test_p5_a_folder_may_change_under_its_version_while_it_is_worked_on(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    added(folder, project)
    write_pack(folder, body="return False")
    assert added(folder, project, may_change=True).differences


@pytest.mark.parametrize(
    "word",
    [
        "git+https://example.com/acme/style",
        "git+ssh://git@example.com/acme/style.git@v1",
        "git+file:///tmp/style",
        "git://example.com/acme/style",
        "ssh://git@example.com/acme/style.git",
        "git@example.com:acme/style.git",
        "https://example.com/acme/style.git",
    ],
)
def test_p6_a_git_repository_is_refused_with_what_to_do(word: str, project: Path) -> None:
    with pytest.raises(UsageError) as refused:
        source_of(word, project, None)
    assert "git clone" in refused.value.hint


def test_p6_a_file_address_is_the_path_that_it_names(project: Path, tmp_path: Path) -> None:
    wheel = wheel_of(write_pack(tmp_path / "a style"), tmp_path / WHEEL)
    assert added(wheel.as_uri(), project).entry.origin == "path"
    folder = tmp_path / "a style"
    assert source_of(folder.as_uri(), project, None) == source_of(str(folder), project, None)


@pytest.mark.parametrize("word", ["file://elsewhere/style.whl", "file:style.whl"])
def test_p6_a_file_address_of_another_machine_or_without_a_path_is_refused(word: str, project: Path) -> None:
    with pytest.raises(PackError) as refused:
        source_of(word, project, None)
    assert refused.value.code == "pack.source"


GRANTED = Permissions(("primary",), {"a": 5}, ("example.com",), ("/data",), ("KEY", "TOKEN"), 4096)


@pytest.mark.parametrize(
    "asked",
    [
        GRANTED,
        Permissions(),
        GRANTED._replace(asks_per_record={"a": 2}),
        GRANTED._replace(memory_mb=3000),
        GRANTED._replace(secrets=("KEY",)),
        GRANTED._replace(network=("example.com:443",)),
        GRANTED._replace(files=("/data/words", "/data/words/en.txt")),
    ],
)
def test_p7_what_became_narrower_is_not_asked_for_again(asked: Permissions) -> None:
    assert (widened(GRANTED, asked), widened_kinds(GRANTED, asked)) == ([], [])


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        (GRANTED._replace(asks_per_record={"a": None}), ["judge"]),
        (GRANTED._replace(network=("example.com", "example.org")), ["network"]),
        (GRANTED._replace(files=("/",)), ["files"]),
        (GRANTED._replace(files=("/database",)), ["files"]),
        (GRANTED._replace(files=("/data/../etc",)), ["files"]),
        (GRANTED._replace(secrets=("KEY", "OTHER"), memory_mb=5000), ["secrets", "memory"]),
    ],
)
def test_p7_only_what_became_wider_is_asked_for(asked: Permissions, kinds: list[str]) -> None:
    assert widened_kinds(GRANTED, asked) == kinds


def test_p7_an_update_asks_only_for_the_kind_that_became_wider(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "style"
    asks = '[permissions]\nnetwork = ["example.com"]\nsecrets = {}\n'
    added(write_pack(folder, more=asks.format('["KEY"]')), project)
    write_pack(folder, more=asks.format('["KEY", "OTHER"]'))
    proposals: list[Proposal] = []
    add(source_of(str(folder), project, None), project, Rules(may_change=True, start=False), proposals.append, print)
    assert [needs_grant(one) for one in proposals] == [["secrets"]]


def test_p10_two_packs_of_one_name_on_the_named_path_are_an_error_with_both_places(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = write_pack(tmp_path / "one"), write_pack(tmp_path / "more" / "other")
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", os.pathsep.join([str(one), str(other.parent)]))
    for ref in ("polite", "acme/style/polite"):
        with pytest.raises((ConfigError, PackError)) as refused:
            default_catalog().resolve(ref)
        assert all(str(folder) in refused.value.message for folder in (one, other))
    assert default_catalog().resolve("exact-match").ref == "core/exact-match"


def test_p10_one_folder_named_twice_is_one_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = write_pack(tmp_path / "one")
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", os.pathsep.join([str(one), str(tmp_path)]))
    assert default_catalog().resolve("polite").name == "polite"


def test_p10_a_named_pack_still_replaces_the_added_one(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_pack(tmp_path / "style")
    added(folder, project)
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", str(folder))
    assert default_catalog().pack("acme/style").folder == folder


def test_p10_an_added_pack_that_takes_a_plain_name_is_warned_of(project: Path, tmp_path: Path) -> None:
    taking = add(
        source_of(str(write_pack(tmp_path / "style", evaluator="exact-match")), project, None),
        project,
        Rules(start=False),
        granting,
        print,
    )
    (sentence,) = shared_names(taking.pack, default_catalog())
    assert "core/exact-match" in sentence
    assert "acme/style/exact-match" in sentence
    own = added(write_pack(tmp_path / "own", name="acme/own"), project)
    assert shared_names(own.pack, default_catalog()) == []
