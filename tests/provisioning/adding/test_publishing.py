"""P11 and P5: `plugins publish` writes releases into an index, and never replaces one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalsi_kernel.errors import ConfigError, PackError
from evalsi_provisioning.publishing import publish
from tests.cli.running import evalsi
from tests.provisioning.adding.third_party import added, digest, wheel_of, write_pack, zip_of


def test_p11_a_published_release_is_found_and_added_by_its_name(project: Path, tmp_path: Path) -> None:
    index = tmp_path / "site" / "index.json"
    wheel = wheel_of(write_pack(tmp_path / "style"), tmp_path / "acme_style-1.0.0-py3-none-any.whl")
    done = evalsi("plugins", "publish", wheel, "--index", index, cwd=tmp_path)
    assert done.code == 0, done.err
    (listed,) = json.loads(index.read_text("utf-8"))["packs"]
    assert (listed["name"], listed["evaluators"]) == ("acme/style", ["polite"])
    assert listed["versions"][0]["sha256"] == digest(wheel)
    assert added("acme/style", project, index=index).entry.version == "1.0.0"


def test_p5_a_rebuilt_archive_of_a_listed_version_is_refused(tmp_path: Path) -> None:
    index, folder = tmp_path / "index.json", write_pack(tmp_path / "style")
    archive = tmp_path / "style.zip"
    assert publish(zip_of(folder, archive), index, None).is_new
    before = index.read_bytes()
    assert not publish(archive, index, None).is_changed
    write_pack(folder, body="return False")
    with pytest.raises(PackError) as refused:
        publish(zip_of(folder, archive), index, None)
    assert (refused.value.code, index.read_bytes()) == ("pack.version", before)
    write_pack(folder, version="1.1.0")
    publish(zip_of(folder, tmp_path / "new.zip"), index, "https://packs.example.com/new.zip")
    (listed,) = json.loads(index.read_text("utf-8"))["packs"]
    assert [one["version"] for one in listed["versions"]] == ["1.0.0", "1.1.0"]
    assert listed["versions"][1]["url"] == "https://packs.example.com/new.zip"


def test_p11_what_could_not_be_added_is_not_published(tmp_path: Path) -> None:
    index = tmp_path / "index.json"
    wheel = wheel_of(write_pack(tmp_path / "style"), tmp_path / "acme_style.whl", wheel_version="2.0")
    for archive in (wheel, tmp_path / "style", tmp_path / "none.whl"):
        with pytest.raises(PackError):
            publish(archive, index, None)
    assert not index.exists()


def test_p11_a_damaged_index_is_left_as_it_is(tmp_path: Path) -> None:
    index = tmp_path / "index.json"
    index.write_text("{")
    with pytest.raises(ConfigError) as refused:
        publish(zip_of(write_pack(tmp_path / "style"), tmp_path / "style.zip"), index, None)
    assert (refused.value.code, index.read_text()) == ("config.index", "{")
