"""Which packs have to be admitted before they are launched, and that without an extension for it none of those is."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.extensions import installed as kernel_extensions
from evalsi_kernel.extensions.installed import Extensions
from evalsi_kernel.packs.manifests import load_manifest
from evalsi_kernel.packs.pack_info import PackInfo
from evalsi_kernel.planning.launches import launch_pack
from tests.cli.pack_folders import write_pack


@pytest.fixture(autouse=True)
def no_extensions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_extensions, "default_extensions", Extensions)


def pack_in(folder: Path, name: str) -> PackInfo:
    pack = write_pack(folder, name, "polite")
    return load_manifest(pack / "plugin.toml").to_pack(pack)


def test_a_pack_of_a_plain_name_asks_nobody(tmp_path: Path) -> None:
    launch = launch_pack(pack_in(tmp_path, "readability"), None)
    assert launch.command is not None
    assert launch.guard is None


@pytest.mark.parametrize(
    ("folder", "name"), [("packs", "acme/style"), (".evalsi/packs", "acme/style"), (".evalsi/packs", "readability")]
)
def test_a_publishers_pack_and_any_of_a_project_is_not_launched_where_nothing_admits_it(
    folder: str, name: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="No installed extension admits third-party packs") as refused:
        launch_pack(pack_in(tmp_path / folder, name), None)
    assert refused.value.code == "config.no_extension"
    assert "evalsi-provisioning" in refused.value.hint
