"""Every test process has a place of its own for temporary files, and takes with it what its tests left behind.

No property fails because the machine is slow.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import left_behind

if sys.dont_write_bytecode:
    # The tree stays as clean as is wished; but each of many hundred processes would compile the whole product anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(
        Path(__file__).parents[1] / ".pytest_cache" / "compiled"
    )

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


# Importing 300 files of tests leaves millions of objects that stay to the end: to look through them again and again for
# rubbish takes nearly half of the time, in each worker.
gc.disable()


# Whole walks through a page, a workflow, a kit or a browser: a third of all the time, and `just test-walks` runs them.
WALKS = (
    "ci_examples",
    "conformance",
    "docs/test_install.py",
    "docs/test_pages.py",
    "judging/test_batches_interrupted.py",
    "provisioning/adding/test_built_wheel.py",
    "provisioning/adding/test_walls.py",
    "provisioning/services/test_serving.py",
    "provisioning/services/test_tls.py",
    "provisioning/test_new_wasm_build_lines.py",
    "provisioning/test_new_wasm_toolchains.py",
    "reports/test_page.py",
    "reports/test_untrusted.py",
    "runs/test_kills.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the walks; what has a verb of its own is none, wherever it stands."""
    here = Path(__file__).parent
    places = [here / place for place in WALKS]
    for item in items:
        if any(item.get_closest_marker(verb) for verb in ("wheels", "adapters", "kills")):
            continue
        if any(item.path == place or place in item.path.parents for place in places):
            item.add_marker(pytest.mark.walks)


def pytest_xdist_auto_num_workers() -> int:
    """Half of what a test takes is waiting for processes: twice as many workers as cores keep the cores busy."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What the collection made is never looked through again."""
    yield
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    tmp_path_factory.getbasetemp()  # pytest's own place stays where it is, to be looked at afterwards.
    with pytest.MonkeyPatch.context() as patch:
        # A short name: pytest's own folders can be longer than a socket's path may be.
        folder = tempfile.mkdtemp(prefix=f"evalsi-tests-{os.getpid()}-")
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", None)
        try:
            yield
        finally:
            left_behind.end(folder)
            shutil.rmtree(folder, ignore_errors=True)
