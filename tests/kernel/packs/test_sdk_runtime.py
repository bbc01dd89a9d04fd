"""A pack imports the host's SDK and no other package of the host."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgpack
import pytest

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.packs.sdk_runtime import ensure_runtime

ROOT = Path(__file__).parents[3]
SOURCES = [ROOT / "sdk" / "src", ROOT / "protocol" / "src"]


@pytest.fixture
def site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where the SDK lies among other packages, as an installer leaves it, at the front of the import path."""
    folder = tmp_path / "lib" / "site-packages"
    for source in SOURCES:
        shutil.copytree(source, folder, dirs_exist_ok=True)
    (folder / "other.py").write_text("")
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(folder)
    for name in [name for name in sys.modules if name.split(".")[0] in {"evalsi", "evalsi_protocol"}]:
        monkeypatch.delitem(sys.modules, name)
    return folder


def outcome(paths: list[Path], code: str) -> str:
    """The last line of a bare interpreter with msgpack, as a pack's process is, and with `paths` in front."""
    only_msgpack = paths[0].parent / "only-msgpack"
    if not only_msgpack.exists():
        shutil.copytree(Path(msgpack.__file__).parent, only_msgpack / "msgpack")
    code = f"import sys; sys.path[:0] = {[str(path) for path in [*paths, only_msgpack]]!r}; {code}"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    return (done.stdout or done.stderr).strip().splitlines()[-1]


def test_a_checkouts_source_folders_are_used_as_they_are() -> None:
    assert ensure_runtime() == SOURCES


def test_an_installed_sdk_reaches_a_pack_without_its_neighbours(site_packages: Path) -> None:
    paths = ensure_runtime()
    assert [sorted(os.listdir(path)) for path in paths] == [["evalsi", "evalsi_protocol"]]
    assert outcome(paths, "import evalsi, evalsi_protocol; print(evalsi.__file__)") == str(
        paths[0] / "evalsi/__init__.py"
    )
    assert outcome(paths, "import other") == "ModuleNotFoundError: No module named 'other'"


def test_a_source_folder_that_holds_anything_else_to_import_is_not_used_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "src"
    shutil.copytree(SOURCES[0], source)
    (source / "other.py").write_text("")
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(source)
    for name in [name for name in sys.modules if name.split(".")[0] == "evalsi"]:
        monkeypatch.delitem(sys.modules, name)
    assert source not in ensure_runtime()


def test_an_upgrade_of_the_host_reaches_packs_at_their_next_start(site_packages: Path) -> None:
    paths = ensure_runtime()
    (site_packages / "evalsi" / "added.py").write_text("VERSION = 'later'")
    assert ensure_runtime() == paths
    assert outcome(paths, "from evalsi.added import VERSION; print(VERSION)") == "later"


def test_a_link_that_was_removed_or_points_elsewhere_is_repaired(site_packages: Path) -> None:
    [folder] = ensure_runtime()
    (folder / "evalsi").unlink()
    (folder / "evalsi_protocol").unlink()
    (folder / "evalsi_protocol").symlink_to("/nowhere")
    assert ensure_runtime() == [folder]
    assert outcome([folder], "import evalsi, evalsi_protocol; print('both')") == "both"


def test_many_that_ask_at_once_end_with_the_same_two_links(site_packages: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ensure_runtime(), range(32)))
    assert len({tuple(answer) for answer in answers}) == 1
    assert sorted(os.listdir(answers[0][0])) == ["evalsi", "evalsi_protocol"]


def test_a_host_without_the_sdk_is_told_what_to_install() -> None:
    kernel = [ROOT / "kernel" / "src", ROOT / "protocol" / "src", Path(msgpack.__file__).parents[1]]
    code = "from evalsi_kernel.packs.sdk_runtime import ensure_runtime; ensure_runtime()"
    paths = f"import sys; sys.path[:0] = {[str(path) for path in kernel]!r}; "
    # -S: the .pth files that bring the checkout's SDK are not read.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", paths + code], capture_output=True, text=True, timeout=60, check=False
    )
    assert "The package evalsi, which packs need, is not installed next to the kernel." in done.stderr
    assert "pip install evalsi-sdk" in done.stderr


def test_a_cache_that_cannot_be_written_is_named(site_packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", "/dev/null/cache")
    with pytest.raises(PackEnvironmentError, match="/dev/null/cache") as caught:
        ensure_runtime()
    assert caught.value.code == "environment.cache_unwritable"
