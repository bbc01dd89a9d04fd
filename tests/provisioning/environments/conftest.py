"""Packs with small locks from an index on the loopback device, and caches that are each test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uv

from tests.provisioning.environments.pack_folders import ROOT, MakePack, built_mark, called_mark, edit, project
from tests.provisioning.environments.package_index import PackageIndex, real_msgpack


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackageIndex]:
    index = PackageIndex(tmp_path_factory.mktemp("index"))
    index.add_wheel("msgpack", real_msgpack())
    index.add_wheel("words", {"words.py": b"RED = 'red'\n"})
    index.add_wheel("evalsi_sdk", {"evalsi/__init__.py": b"ORIGIN = 'registry'\n"})
    index.add_wheel("both", {"both.py": b""})
    for name in ("both", "unbuilt"):
        index.add_source(name, built_mark(index))
    index.add_wheel("breaker", {"breaker.pth": b"import sys; sys.modules['msgpack'] = None\n"})
    mark = called_mark(index)
    index.add_wheel("caller", {"caller.pth": f"import os; open({str(mark)!r}, 'w').close()\n".encode()})
    index.add_wheel("elsewhere", {"elsewhere.py": b""}, tag="py3-none-win_amd64")
    yield index
    index.close()


@pytest.fixture(scope="session")
def uv_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uv-cache")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, uv_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("UV_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_CACHE_DIR", str(uv_cache))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    cache = tmp_path / "cache"
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(cache))
    return cache


@pytest.fixture
def empty_uv_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty-uv-cache"))


@pytest.fixture(scope="session")
def locked(index: PackageIndex, uv_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes the lock of a project with the dependencies that are named, once for each list of them."""
    made: dict[tuple[str, ...], Path] = {}

    def lock(*dependencies: str) -> Path:
        if dependencies not in made:
            folder = tmp_path_factory.mktemp("locked")
            (folder / "pyproject.toml").write_text(project(*dependencies))
            command = [uv.find_uv_bin(), "lock", "-q", "--default-index", index.url, "--cache-dir", str(uv_cache)]
            variables = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
            subprocess.run(command, cwd=folder, env=variables, check=True, timeout=60)
            made[dependencies] = folder
        return made[dependencies]

    return lock


@pytest.fixture
def make_pack(locked: Callable[..., Path], tmp_path: Path) -> MakePack:
    """Makes a pack's folder as it is installed: `pyproject.toml` and `uv.lock`, far from what they were made beside."""

    def make(*dependencies: str, name: str = "tiny") -> Path:
        folder = tmp_path / name
        shutil.copytree(locked(*dependencies), folder)
        edit(folder / "uv.lock", str(ROOT), "/nowhere")
        return folder

    return make
