"""A folder of installed distributions with extensions, made by hand as an installer would.

Knows what an installer leaves behind; knows nothing of how it is read.
"""

import importlib
import itertools
from importlib.metadata import entry_points
from pathlib import Path

READER = """
from evalsi_kernel.hooks import hookimpl


class Lines:
    unit = "line"

    def __init__(self, uri):
        self.name = uri

    def chunks(self):
        yield [(1, {"input": "q", "output": "a"})]

    def sha256(self):
        return None


@hookimpl
def evalsi_open_source(uri):
    return None if "declined" in uri else Lines(uri)
"""
PROVIDES = 'schemes = ["lake"]\nsuffixes = [".lake", ".lake.gz"]\nstdin = true\n'


class Site:
    """A folder of installed distributions on sys.path, made by hand as an installer would."""

    numbers = itertools.count()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        # What is really installed is hidden by an empty distribution of its name.
        for name in {point.dist.name for point in entry_points(group="evalsi.extensions") if point.dist}:
            info = folder / f"{name.replace('-', '_')}-0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n")

    def install(self, name: str, *, provides: str = PROVIDES, code: str = READER, toml: str | None = None) -> str:
        """Install a distribution with an extension; returns the name of its import package, which is new each time."""
        package = f"extension_under_test_{next(self.numbers)}"
        if toml is None:
            lines = ["extension = 1", f'name = "{name}"', f'module = "{package}.plugin"', 'summary = "Some."']
            toml = "\n".join([*lines, "[provides]", provides])
        (self.folder / package).mkdir()
        (self.folder / package / "__init__.py").write_text("")
        (self.folder / package / "plugin.py").write_text(code)
        (self.folder / package / "extension.toml").write_text(toml)
        info = self.folder / f"acme_{name}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-{name}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[evalsi.extensions]\n{name} = {package}\n")
        importlib.invalidate_caches()
        return package
