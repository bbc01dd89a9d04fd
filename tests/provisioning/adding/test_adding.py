"""Adding packs: from every kind of source, recorded, changed, restored and taken away."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from evalsi_kernel.errors import ConfigError, PackError, UsageError
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_provisioning.adding import Rules, add, remove
from evalsi_provisioning.pack_sources import Source
from tests.cli.running import QA, evalsi
from tests.provisioning.adding.third_party import (
    added,
    digest,
    recorded,
    release,
    served,
    tar_of,
    wheel_of,
    write_index,
    write_pack,
    zip_of,
)

MAKERS = {"style.zip": zip_of, "style.tar.gz": tar_of, "acme_style-1.0.0-py3-none-any.whl": wheel_of}


@pytest.mark.parametrize("name", MAKERS)
def test_an_archive_and_a_folder_give_the_same_pack(name: str, project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    archive = MAKERS[name](folder, tmp_path / name)
    of_archive = added(archive, project)
    assert recorded(project)["acme/style"]["artifact_sha256"] == digest(archive)
    remove("acme/style", project)
    of_folder = added(folder, project)
    assert of_archive.entry.manifest_sha256 == of_folder.entry.manifest_sha256
    assert of_archive.entry.lock_sha256 == of_folder.entry.lock_sha256
    assert [pack.name for pack in default_catalog().packs if pack.publisher] == ["acme/style"]


@pytest.mark.parametrize("make", [zip_of, tar_of, lambda folder, _: folder], ids=["zip", "tar", "folder"])
def test_what_can_be_executed_still_can(make: Callable[[Path, Path], Path], project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    added(make(folder, tmp_path / ("style.zip" if make is zip_of else "style.tar.gz")), project)
    there = project / ".evalsi" / "packs" / "acme+style"
    assert os.access(there / "run.sh", os.X_OK)
    assert not os.access(there / "plugin.toml", os.X_OK)


def test_what_is_added_runs_under_its_full_name(project: Path, tmp_path: Path) -> None:
    wheel = wheel_of(write_pack(tmp_path / "style"), tmp_path / "acme_style-1.0.0-py3-none-any.whl")
    done = evalsi("plugins", "add", wheel, cwd=project)
    assert done.code == 0, done.err
    assert done.out.endswith("added acme/style 1.0.0; evalsi.lock records it\n")
    run = evalsi("eval", "--data", QA, "--evaluators", "acme/style/polite", cwd=project)
    assert run.code == 0, run.err
    assert "1.000" in run.out


@pytest.mark.parametrize("word", ["{folder}", "../style"], ids=["absolute", "relative"])
def test_a_path_is_shown_as_it_was_given_and_recorded_from_the_project(
    word: str, project: Path, tmp_path: Path
) -> None:
    folder = write_pack(tmp_path / "style")
    given = word.format(folder=folder)
    done = evalsi("plugins", "add", "--no-start", given, cwd=project)
    assert done.code == 0, done.err
    assert f"\n  from {given}\n" in done.out
    assert recorded(project)["acme/style"]["source"] == "../style"


def test_a_path_that_is_not_there_is_told_without_a_way_there_and_back(project: Path, tmp_path: Path) -> None:
    with pytest.raises(PackError, match=f"^{re.escape(str(tmp_path / 'styel'))} is not there"):
        added(tmp_path / "styel", project)


def test_evalsi_lock_says_what_was_added_and_from_where(project: Path, tmp_path: Path) -> None:
    added(write_pack(tmp_path / "style"), project)
    entry = recorded(project)["acme/style"]
    assert (entry["version"], entry["origin"], entry["source"]) == ("1.0.0", "path", "../style")
    assert entry["manifest_sha256"] == digest(tmp_path / "style" / "plugin.toml")
    assert entry["lock_sha256"] == digest(tmp_path / "style" / "uv.lock")
    assert entry["evaluators"] == {"polite": "1"}


def test_what_is_no_part_of_a_pack_is_left_where_it_is(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    for name in (".venv", "src/__pycache__", "dist"):
        (folder / name).mkdir()
        (folder / name / "large").write_bytes(b"x")
    added(folder, project)
    there = project / ".evalsi" / "packs" / "acme+style"
    assert sorted(path.name for path in there.rglob("*") if path.is_file()) == [
        "acme_style.py",
        "plugin.toml",
        "uv.lock",
    ]
    assert [path.name for path in there.parent.iterdir() if path.name != ".lock"] == ["acme+style"]


def test_an_address_on_the_loopback_device_may_be_http_and_any_other_may_not(project: Path, tmp_path: Path) -> None:
    zip_of(write_pack(tmp_path / "style"), tmp_path / "style.zip")
    with served(tmp_path) as url:
        added(f"{url}/style.zip", project)
        assert recorded(project)["acme/style"]["source"] == f"{url}/style.zip"
        with pytest.raises(PackError, match="over https only") as away:
            added(f"{url}/away/style.zip", project)
    assert away.value.code == "pack.source"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://packs.example.com/style.zip", "over https only"),
        ("ftp://packs.example.com/style.zip", "over https only"),
        ("https://me:secret@packs.example.com/style.zip", "a name or a password"),
        ("https://packs.example.com/style", "is no archive of a pack"),
        ("https://[/style.zip", "is no address"),
    ],
)
def test_an_address_that_is_not_fetched_from(url: str, said: str, project: Path) -> None:
    with pytest.raises(PackError, match=said) as refused:
        added(url, project)
    assert refused.value.code == "pack.source"
    assert "secret" not in str(refused.value) or "me:secret" not in url
    assert not (project / "evalsi.lock").exists()


def test_nobody_at_an_address_is_told_with_the_address(project: Path, tmp_path: Path) -> None:
    with served(tmp_path) as url:
        pass
    with pytest.raises(PackError, match="cannot be fetched"):
        added(f"{url}/style.zip", project)
    with served(tmp_path) as url, pytest.raises(PackError, match="answers 404"):
        added(f"{url}/none.zip", project)


def test_a_name_is_found_in_the_index_at_a_path_or_an_address(project: Path, tmp_path: Path) -> None:
    archive = zip_of(write_pack(tmp_path / "style"), tmp_path / "style.zip")
    index = write_index(tmp_path / "index.json", {"name": "acme/style", "versions": [release(archive)]})
    added("acme/style", project, index=index)
    assert recorded(project)["acme/style"]["origin"] == "index"
    assert recorded(project)["acme/style"]["source"] == "../style.zip"
    remove("acme/style", project)
    with served(tmp_path) as url:
        added("acme/style==1.0.0", project, index=f"{url}/index.json")
        assert recorded(project)["acme/style"]["source"] == f"{url}/style.zip"


def test_an_artifact_that_is_not_what_the_index_says_is_refused(project: Path, tmp_path: Path) -> None:
    archive = zip_of(write_pack(tmp_path / "style"), tmp_path / "style.zip")
    listed = {"name": "acme/style", "versions": [release(archive) | {"sha256": "0" * 64}]}
    with pytest.raises(PackError, match="is not what its index says"):
        added("acme/style", project, index=write_index(tmp_path / "index.json", listed))
    listed = {"name": "acme/other", "versions": [release(archive)]}
    with pytest.raises(PackError, match="its manifest says acme/style"):
        added("acme/other", project, index=write_index(tmp_path / "index.json", listed))


@pytest.mark.parametrize("word", ["Acme/Style", "a/b/c", "", "acme/style==", "acme style"])
def test_a_word_that_is_no_source_is_told_what_is(word: str, project: Path) -> None:
    with pytest.raises(UsageError, match=r"\./FOLDER"):
        added(word, project)


def test_a_path_that_is_not_there_or_is_no_archive_is_told(project: Path, tmp_path: Path) -> None:
    with pytest.raises(PackError, match="is not there"):
        added("./none", project)
    (project / "notes.txt").write_text("")
    with pytest.raises(PackError, match="is no archive of a pack"):
        added("./notes.txt", project)
    with pytest.raises(PackError, match=r"holds no plugin\.toml"):
        added(tmp_path, project)


def test_adding_again_what_is_the_same_changes_nothing(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    added(folder, project)
    before = (project / "evalsi.lock").stat().st_mtime_ns
    assert added(folder, project).differences == ()
    assert (project / "evalsi.lock").stat().st_mtime_ns == before


def test_adding_something_else_under_the_name_stops_with_the_differences(project: Path, tmp_path: Path) -> None:
    added(write_pack(tmp_path / "style"), project)
    with pytest.raises(PackError) as stopped:
        added(write_pack(tmp_path / "style", version="1.1.0"), project)
    assert stopped.value.code == "pack.changed"
    assert "version: 1.0.0 → 1.1.0" in stopped.value.message
    assert "SHA-256 of plugin.toml" in stopped.value.message
    assert "evalsi plugins update" in stopped.value.hint
    assert recorded(project)["acme/style"]["version"] == "1.0.0"
    added(tmp_path / "style", project, may_change=True)
    assert recorded(project)["acme/style"]["version"] == "1.1.0"


def test_a_version_goes_back_only_where_that_is_said(project: Path, tmp_path: Path) -> None:
    added(write_pack(tmp_path / "style", version="1.10.0"), project)
    older = write_pack(tmp_path / "older", version="1.9.0")
    with pytest.raises(PackError, match=r"go back from 1\.10\.0 to 1\.9\.0") as stopped:
        added(older, project, may_change=True)
    assert stopped.value.code == "pack.downgrade"
    added(older, project, may_change=True, may_downgrade=True)
    assert recorded(project)["acme/style"]["version"] == "1.9.0"


def test_a_version_without_an_order_is_refused_at_first_sight(project: Path, tmp_path: Path) -> None:
    with pytest.raises(PackError, match="older or newer") as refused:
        added(write_pack(tmp_path / "style", version="final-final"), project)
    assert refused.value.code == "pack.version"


def test_locked_records_nothing_and_restores_everything(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    refused = evalsi("plugins", "add", folder, "--locked", cwd=project)
    assert refused.code == 1
    assert "--locked records nothing" in refused.err
    assert not (project / "evalsi.lock").exists()
    added(folder, project)
    shutil.rmtree(project / ".evalsi")
    restored = evalsi("plugins", "add", "--locked", "--no-start", cwd=project)
    assert restored.code == 0, restored.err
    assert (project / ".evalsi" / "packs" / "acme+style" / "plugin.toml").is_file()
    there = evalsi("plugins", "add", "--locked", "--no-start", cwd=project)
    assert there.out == "acme/style 1.0.0 is as evalsi.lock says\n"


def test_locked_stops_where_the_source_has_become_another(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    added(folder, project)
    shutil.rmtree(project / ".evalsi")
    write_pack(folder, body="return False")
    stopped = evalsi("plugins", "add", "--locked", "--no-start", cwd=project)
    assert stopped.code == 1
    assert "SHA-256 of the artifact" in stopped.err
    assert not (project / ".evalsi" / "packs" / "acme+style").exists()


def test_update_takes_the_newest_of_the_index_and_looks_again_at_a_path(project: Path, tmp_path: Path) -> None:
    old = zip_of(write_pack(tmp_path / "style"), tmp_path / "old.zip")
    new = zip_of(write_pack(tmp_path / "style", version="1.2.0"), tmp_path / "new.zip")
    listed = {"name": "acme/style", "versions": [release(old)]}
    index = write_index(tmp_path / "index.json", listed)
    tone = write_pack(tmp_path / "tone", "acme/tone", evaluator="tone")
    added("acme/style", project, index=index)
    added(tone, project)
    listed["versions"] = [release(new, "1.2.0"), release(old)]
    write_index(index, listed)
    write_pack(tone, "acme/tone", evaluator="tone", version="2.0.0")
    done = evalsi("plugins", "update", "--index", index, "--no-start", cwd=project)
    assert done.code == 0, done.err
    assert "updated acme/style from 1.0.0 to 1.2.0" in done.out
    assert {name: entry["version"] for name, entry in recorded(project).items()} == {
        "acme/style": "1.2.0",
        "acme/tone": "2.0.0",
    }


def test_update_of_what_was_never_added_says_so(project: Path, tmp_path: Path) -> None:
    archive = zip_of(write_pack(tmp_path / "style"), tmp_path / "style.zip")
    index = write_index(tmp_path / "index.json", {"name": "acme/style", "versions": [release(archive)]})
    done = evalsi("plugins", "update", "acme/style", "--index", index, cwd=project)
    assert done.code == 1
    assert "has no pack acme/style" in done.err


def test_remove_takes_the_folder_and_the_entry(project: Path, tmp_path: Path) -> None:
    added(write_pack(tmp_path / "style"), project)
    assert evalsi("plugins", "remove", "acme/style", cwd=project).out == (
        "removed acme/style; evalsi.lock has it no more\n"
    )
    assert recorded(project) == {}
    assert [path.name for path in (project / ".evalsi" / "packs").iterdir()] == [".lock"]
    again = evalsi("plugins", "remove", "acme/style", cwd=project)
    assert again.code == 1
    assert "has no pack acme/style" in again.err


def test_a_project_whose_folder_of_packs_cannot_be_made_is_told(project: Path, tmp_path: Path) -> None:
    (project / ".evalsi").write_text("a file")
    with pytest.raises(PackError, match="cannot be written") as refused:
        added(write_pack(tmp_path / "style"), project)
    assert refused.value.code == "pack.store"


def test_a_cache_that_cannot_be_written_leaves_nothing_half_added(project: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    variables = {"EVALSI_CACHE_DIR": str(tmp_path / "cache")}
    done = evalsi("plugins", "add", write_pack(tmp_path / "style"), cwd=project, variables=variables)
    assert done.code == 1
    assert "cache" in done.err
    assert "Traceback" not in done.err
    assert not (project / "evalsi.lock").exists()
    assert list((project / ".evalsi" / "packs").iterdir()) == []


def test_a_change_of_evalsi_lock_meanwhile_is_not_overwritten(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")

    def another_adds(_: object) -> None:
        added(write_pack(tmp_path / "other", body="return False"), project)

    with pytest.raises(ConfigError, match="has changed meanwhile"):
        add(Source("path", "../style"), project, Rules(start=False), another_adds, lambda _: None)
    assert recorded(project)["acme/style"]["source"] == "../other"
    assert folder.is_dir()
