"""Packs as strangers hand them out: folders, wheels and archives, and a server on the loopback device that has them."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
import threading
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from evalsi_provisioning.adding import Proposal, Rules, add
from evalsi_provisioning.pack_sources import source_of

CORE = Path(__file__).parents[3] / "plugins" / "packs" / "core"
MANIFEST = """\
manifest = 1
name = "{name}"
version = "{version}"
summary = "A pack of a test."
protocol = {protocol}

[run]
module = "{module}"
memory_mb = 512
record_timeout_s = 20
{more}
[[evaluators]]
name = "{evaluator}"
version = "1"
summary = "An evaluator of a test."
scope = "record"
needs = ["output"]
asks = {asks}
outputs = []
params = {{ type = "object", properties = {{}} }}
"""
CODE = """\
import os, sys
from evalsi import evaluator


@evaluator(name={evaluator!r}, version=1, needs=["output"], asks={asks})
def one(record{judge}):
    {body}


EVALUATORS = [one]
"""


def write_pack(
    folder: Path,
    name: str = "acme/style",
    *,
    version: str = "1.0.0",
    body: str = "return True",
    more: str = "",
    asks: str = "[]",
    protocol: int = 1,
    evaluator: str = "polite",
) -> Path:
    """A pack with the lock, so in the environment, of the pack core; its evaluator's body is `body`."""
    module = name.replace("/", "_").replace("-", "_")
    (folder / "src").mkdir(parents=True, exist_ok=True)
    given = {"name": name, "version": version, "protocol": protocol, "module": module, "more": more}
    (folder / "plugin.toml").write_text(MANIFEST.format(**given, evaluator=evaluator, asks=asks), "utf-8")
    judge = ", judge" if "judge" in asks else ""
    (folder / "src" / f"{module}.py").write_text(
        CODE.format(evaluator=evaluator, asks=asks, judge=judge, body=body), "utf-8"
    )
    shutil.copy(CORE / "uv.lock", folder / "uv.lock")
    return folder


def zip_of(folder: Path, archive: Path) -> Path:
    """An archive of a folder, which is at its top."""
    with zipfile.ZipFile(archive, "w") as zipped:
        for path in sorted(folder.rglob("*")):
            zipped.write(path, f"{folder.name}/{path.relative_to(folder)}")
    return archive


def tar_of(folder: Path, archive: Path) -> Path:
    """The same as a tar that is compressed."""
    with tarfile.open(archive, "w:gz") as tarred:
        tarred.add(folder, folder.name)
    return archive


def wheel_of(folder: Path, archive: Path, *, wheel_version: str = "") -> Path:
    """A wheel, as a pack's build makes it: manifest and lock in the import package; by default of their version."""
    (module,) = folder.joinpath("src").glob("*.py")
    package = module.stem
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.write(module, f"{package}/__init__.py")
        for name in ("plugin.toml", "uv.lock"):
            zipped.write(folder / name, f"{package}/{name}")
        version = wheel_version or tomllib.loads((folder / "plugin.toml").read_text("utf-8"))["version"]
        zipped.writestr(f"{package}-{version}.dist-info/METADATA", f"Name: a-pack\nVersion: {version}\n")
        zipped.writestr(f"{package}-{version}.dist-info/RECORD", "")
    return archive


def strange_zip(archive: Path, names: Mapping[str, bytes], *, mode: int = 0o100644) -> Path:
    """A zip of these names, whatever they are."""
    with zipfile.ZipFile(archive, "w") as zipped:
        for name, content in names.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            zipped.writestr(info, content)
    return archive


def strange_tar(archive: Path, *members: tarfile.TarInfo) -> Path:
    """A tar of these members, whatever they are."""
    with tarfile.open(archive, "w:gz") as tarred:
        for member in members:
            tarred.addfile(member, io.BytesIO(b"x" * member.size))
    return archive


def write_index(path: Path, *packs: Mapping[str, Any]) -> Path:
    """An index of packs."""
    path.write_text(json.dumps({"index": 1, "packs": list(packs)}), "utf-8")
    return path


def release(archive: Path, version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    """A version as an index has it; its address holds from the index's folder."""
    return {"version": version, "url": archive.name, "sha256": digest(archive), **more}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def granting(_: Proposal) -> None:
    """Grants whatever is asked for."""


def added(word: str | Path, project: Path, *, index: Path | str | None = None, **rules: Any) -> Proposal:
    """Add a pack to a project without starting it, all granted."""
    source = source_of(str(word), project, None if index is None else str(index))
    return add(source, project, Rules(**{"start": False, **rules}), granting, lambda _: None)


def recorded(project: Path) -> dict[str, Any]:
    """What evalsi.lock has, by pack."""
    packs: dict[str, Any] = json.loads((project / "evalsi.lock").read_text("utf-8"))["packs"]
    return packs


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        """A file; or /away, which sends on to an address without https; or /drip, which ends when the reader does."""
        if self.path.startswith("/drip"):
            self.send_response(200)
            self.end_headers()
            with suppress(ConnectionError):
                while True:
                    self.wfile.write(b" ")
            return
        if self.path.startswith("/away"):
            self.send_response(302)
            self.send_header("Location", "http://packs.example.com/pack.zip")
            self.end_headers()
            return
        super().do_GET()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address under which a folder is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
