"""C1: each way to install in docs/how-to/install.md gives this Evals.si, even if an index has others of its names."""

from __future__ import annotations

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import uv

from tests.docs.blocks import Block, blocks_of
from tests.docs.walk import ROOT

pytestmark = pytest.mark.timeout(600)

PAGE = ROOT / "docs" / "how-to" / "install.md"
WAYS = [block for block in blocks_of(PAGE.read_text("utf-8")) if block.language == "sh"]
REF = "install-test"
DECOYS = ("evalsi", "evalsi-kernel", "evalsi-sdk")
VERSION = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)


def run(script: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that holds the working tree as its only commit, with a tag."""
    folder = tmp_path_factory.mktemp("repository")
    names = run("git ls-files --cached --others --exclude-standard", ROOT, dict(os.environ)).splitlines()
    for name in names:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    author = "-c user.name=test -c user.email=test@localhost"
    run(f"git init -q . && git add -A && git {author} commit -qm all && git tag {REF}", folder, dict(os.environ))
    return folder


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """The folder of wheels that `just build` makes."""
    copy = tmp_path_factory.mktemp("build") / "evalsi"
    run(f"git clone --quiet {repository} {copy}", ROOT, dict(os.environ))
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run("just build", copy, {**os.environ, "PATH": tools})
    return copy / "dist"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An index on which somebody else has our names, in our version."""
    assert VERSION is not None
    folder = tmp_path_factory.mktemp("index")
    for name in DECOYS:
        module = name.replace("-", "_")
        place = folder / name
        place.mkdir()
        info = f"{module}-{VERSION[1]}.dist-info"
        file = f"{module}-{VERSION[1]}-py3-none-any.whl"
        with zipfile.ZipFile(place / file, "w") as wheel:
            wheel.writestr(f"{module}/DECOY", "")
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {VERSION[1]}\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
        (place / "index.html").write_text(f'<a href="{file}">{file}</a>')
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join(timeout=10)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"line {way.line}")
def test_c1_each_way_to_install_gives_the_command_and_the_library(
    way: Block, tmp_path: Path, repository: Path, dist: Path, index: str
) -> None:
    environment = tmp_path / "environment"
    bins = [environment / "bin", Path(uv.find_uv_bin()).parent]
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("VIRTUAL_ENV", "UV_PROJECT"))},
        "PATH": os.pathsep.join([*map(str, bins), os.environ["PATH"]]),
        "VIRTUAL_ENV": str(environment),
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(environment / "bin"),
        "UV_INDEX": index,
        "PIP_EXTRA_INDEX_URL": index,
        "EVALSI_CACHE_DIR": str(tmp_path / "cache"),
        "REPO": repository.as_uri(),
        "REF": REF,
    }
    run(f"{sys.executable} -m venv environment", tmp_path, dict(os.environ))
    project = tmp_path / "project"
    project.mkdir()
    if "../evalsi\n" in way.text:
        run(f"git clone --quiet {repository} evalsi", tmp_path, variables)
    if "dist/" in way.text:
        (project / "dist").symlink_to(dist)
    if "uv add" in way.text:
        del variables["VIRTUAL_ENV"]
        run("uv init --quiet --bare --name project .", project, variables)
    run(way.text, project, variables)

    assert list(tmp_path.rglob("DECOY")) == []
    command = "uv run evalsi" if "uv add" in way.text else "evalsi"
    data = ROOT / "examples" / "quickstart" / "qa.jsonl"
    table = run(f"{command} eval --data {data} --evaluators exact-match", project, variables)
    assert "exact-match  6  0.333" in table
