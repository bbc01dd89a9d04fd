"""Where the cache, the user's folder and the packs lie."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.files import paths
from evalsi_kernel.files.paths import cache_dir, home_dir, is_project_pack, pack_search_path

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("EVALSI_CACHE_DIR", "EVALSI_HOME", "EVALSI_PLUGIN_PATH", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_without_variables_both_folders_are_the_users_own(bare: Path) -> None:
    assert cache_dir() == bare / ".cache" / "evalsi"
    assert home_dir() == bare / ".local" / "share" / "evalsi"


def test_on_a_mac_the_cache_is_where_macs_keep_it(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_dir() == bare / "Library" / "Caches" / "evalsi"


def test_the_xdg_variables_move_them_and_a_relative_one_is_ignored(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/x/cache")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert cache_dir() == Path("/x/cache/evalsi")
    assert home_dir() == bare / ".local" / "share" / "evalsi"


def test_evalsi_home_moves_both_and_evalsi_cache_dir_wins_over_it(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_HOME", "~/mine")
    assert (home_dir(), cache_dir()) == (bare / "mine", bare / "mine" / "cache")
    monkeypatch.setenv("EVALSI_CACHE_DIR", "here")
    assert cache_dir() == Path.cwd() / "here"


def test_a_relative_home_holds_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "mine")
    assert (home_dir(), cache_dir()) == (tmp_path / "mine/.local/share/evalsi", tmp_path / "mine/.cache/evalsi")


def test_a_user_without_a_home_folder_is_told_which_variable_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    with pytest.raises(ConfigError, match="Set EVALSI_HOME"):
        cache_dir()


def test_a_checkout_finds_its_own_packs_after_the_named_ones_and_before_the_users(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", os.pathsep.join(["/a", "", "/b", "/a"]))
    checkout = [ROOT / "plugins" / "packs", ROOT / "adapters"]
    assert pack_search_path() == [Path("/a"), Path("/b"), *checkout, home_dir() / "packs"]


def test_the_packs_of_a_project_come_after_the_checkouts_and_only_where_there_are_any(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    without = pack_search_path()
    (tmp_path / ".evalsi" / "packs").mkdir(parents=True)
    assert pack_search_path() == [*without[:-1], tmp_path / ".evalsi" / "packs", without[-1]]
    assert is_project_pack(tmp_path / ".evalsi" / "packs" / "acme+style")
    assert not is_project_pack(tmp_path / "packs" / "acme+style")
    assert not is_project_pack(tmp_path / "not.evalsi" / "packs" / "acme+style")


@pytest.mark.parametrize("code_lies_in", ["lib/python3.11/site-packages", "."], ids=["in a prefix", "with --target"])
def test_an_installed_kernel_finds_the_packs_that_its_wheel_laid_down(tmp_path: Path, code_lies_in: str) -> None:
    folder = tmp_path / "prefix" / code_lies_in
    shutil.copytree(Path(paths.__file__).parents[1], folder / "evalsi_kernel")
    shutil.copytree(ROOT / "protocol" / "src", folder, dirs_exist_ok=True)
    code = "from evalsi_kernel.files.paths import pack_search_path; print(*pack_search_path(), sep='\\n')"
    code = f"import sys; sys.path[:0] = {[str(folder), str(Path(msgpack.__file__).parents[1])]!r}; {code}"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    found = done.stdout.splitlines()
    assert str(tmp_path / "prefix" / "share" / "evalsi" / "packs") in found
    assert not any(str(ROOT / "plugins") in line for line in found)
