"""A package index on the loopback device with a few small wheels, whose downloads a test can hold back."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgpack

HOLD_S = 30.0


class PackageIndex:
    """The simple index of a folder of wheels.

    Args:
        folder: where the files and the pages lie.
    """

    def __init__(self, folder: Path) -> None:
        self.wheels = folder / "wheels"
        self.sources = folder / "sources"
        self.wheels.mkdir(parents=True)
        self.sources.mkdir()
        self.folder = folder
        self.asked = threading.Event()
        self.downloads: list[str] = []
        """The files that were asked for, in order."""
        self.held = ""
        self.released = threading.Event()
        self.released.set()
        handler = functools.partial(_Handler, self, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/simple"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def add_wheel(self, name: str, files: dict[str, bytes], *, tag: str = "py3-none-any") -> None:
        """Publish version 2.0 of a package."""
        info = f"{name}-2.0.dist-info"
        metadata = {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n".encode(),
            f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
        }
        wheel = self.wheels / f"{name}-2.0-{tag}.whl"
        record = "".join(f"{path},,\n" for path in [*files, *metadata, f"{info}/RECORD"])
        with zipfile.ZipFile(wheel, "w") as archive:
            for path, content in {**files, **metadata, f"{info}/RECORD": record.encode()}.items():
                archive.writestr(path, content)
        self._publish(name, wheel)

    def add_source(self, name: str, mark: Path) -> None:
        """Publish version 2.0 of a package as source only; who builds it leaves `mark` behind."""
        folder = f"{name}-2.0"
        files = {
            f"{folder}/PKG-INFO": f"Metadata-Version: 2.2\nName: {name}\nVersion: 2.0\n",
            f"{folder}/pyproject.toml": "[build-system]\nrequires = []\n"
            'build-backend = "backend"\nbackend-path = ["."]\n'
            f'[project]\nname = "{name}"\nversion = "2.0"\n',
            f"{folder}/backend.py": f"open({str(mark)!r}, 'w').close()\n",
        }
        source = self.sources / f"{folder}.tar.gz"
        with tarfile.open(source, "w:gz") as archive:
            for path, content in files.items():
                member = tarfile.TarInfo(path)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content.encode()))
        self._publish(name, source)

    def _publish(self, name: str, file: Path) -> None:
        page = self.folder / "simple" / name.replace("_", "-") / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        with page.open("a") as links:
            links.write(f'<a href="/{file.relative_to(self.folder)}#sha256={digest}">{file.name}</a>\n')

    @contextmanager
    def holding_downloads(self, held: str = "") -> Iterator[None]:
        """Wheels that are asked for are not sent before `released` is set, or the block ends.

        Args:
            held: only those with this in their name; the others are sent at once.
        """
        self.held = held
        self.asked.clear()
        self.released.clear()
        try:
            yield
        finally:
            self.released.set()

    def close(self) -> None:
        """Stop serving."""
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, index: PackageIndex, *arguments: object, directory: str) -> None:
        self._index = index
        super().__init__(*arguments, directory=directory)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        if self.path.endswith(".whl"):
            self._index.downloads.append(self.path.rpartition("/")[2])
            if self._index.held in self.path:
                self._index.asked.set()
                self._index.released.wait(HOLD_S)
        try:
            super().do_GET()
        except (BrokenPipeError, ConnectionResetError):
            # The process that asked was killed by the test.
            self.close_connection = True

    def log_message(self, format: str, *arguments: object) -> None:
        """The test's own lines are enough."""


def real_msgpack() -> dict[str, bytes]:
    """The files of the msgpack that this interpreter uses, to be packed into a wheel."""
    package = Path(msgpack.__file__).parent
    return {
        f"msgpack/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.suffix in {".py", ".so"}
    }
