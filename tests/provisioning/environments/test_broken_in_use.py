"""A run meets an environment that broke after it was built: it is made anew once, with a note, and the run goes on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from evalsi_kernel.errors import PackError
from evalsi_kernel.evaluation.evaluation import evaluate
from evalsi_kernel.packs.catalog import load_catalog
from evalsi_kernel.packs.wanted import Wanted
from evalsi_kernel.planning.environments import ensure_environment
from evalsi_kernel.request import Listener, Request
from evalsi_kernel.results.evaluated import Evaluation
from tests.cli.pack_folders import MANIFEST
from tests.kernel.data_path import Lines
from tests.provisioning.environments.pack_folders import MakePack

CODE = """
import words
from evalsi import evaluator

@evaluator(name="red")
def red(record) -> bool:
    return words.RED == "red"
"""


@pytest.fixture
def pack(make_pack: MakePack) -> Path:
    """A pack that needs `words`, installed, its environment built."""
    folder = make_pack("evalsi-sdk", "words", name="tiny")
    (folder / "src").mkdir()
    (folder / "src" / "tiny.py").write_text(CODE)
    (folder / "plugin.toml").write_text(
        MANIFEST.format(name="acme/tiny", module="tiny", evaluator="red", memory_mb=512)
    )
    ensure_environment(folder, "acme/tiny")
    return folder


def site_packages(pack: Path) -> Path:
    environment = ensure_environment(pack, "acme/tiny")
    (found,) = environment.python.parents[1].glob("lib/python*/site-packages")
    return found


def run(pack: Path, cache: Path) -> tuple[Evaluation, list[str]]:
    notes: list[str] = []
    request = Request(Lines([{"output": "a"}] * 5), [Wanted("red")], processes=1)
    return evaluate(request, load_catalog([pack], cache), listener=Listener(on_note=notes.append)), notes


def begun(notes: list[str]) -> list[str]:
    return [note for note in notes if note.startswith("building")]


@pytest.mark.parametrize("missing", ["words.py", "msgpack"])
def test_an_environment_that_lost_a_package_is_made_anew_once_and_every_record_is_scored(
    missing: str, pack: Path, cache: Path
) -> None:
    lost = site_packages(pack) / missing
    if lost.is_dir():
        shutil.rmtree(lost)
    else:
        lost.unlink()
    found, notes = run(pack, cache)
    assert (found.summaries[0].n, found.summaries[0].mean) == (5, 1.0)
    assert begun(notes) == ["building the environment of acme/tiny (again)…"]
    assert begun(run(pack, cache)[1]) == []


def test_an_environment_without_its_python_is_made_anew(pack: Path, cache: Path) -> None:
    ensure_environment(pack, "acme/tiny").python.unlink()
    found, notes = run(pack, cache)
    assert found.summaries[0].n == 5
    assert begun(notes) == ["building the environment of acme/tiny (again)…"]


def test_an_environment_whose_python_does_not_start_is_made_anew(pack: Path, cache: Path) -> None:
    python = ensure_environment(pack, "acme/tiny").python
    python.unlink()
    python.write_text("#!/bin/sh\necho cannot start >&2\nexit 1\n")
    python.chmod(0o755)
    found, notes = run(pack, cache)
    assert found.summaries[0].n == 5
    assert begun(notes) == ["building the environment of acme/tiny (again)…"]


def test_an_environment_whose_python_is_no_program_is_made_anew(pack: Path, cache: Path) -> None:
    python = ensure_environment(pack, "acme/tiny").python
    python.unlink()
    python.write_bytes(b"\x00\x01\x02 torn")
    python.chmod(0o755)
    found, notes = run(pack, cache)
    assert found.summaries[0].n == 5
    assert begun(notes) == ["building the environment of acme/tiny (again)…"]


def test_a_half_built_environment_is_finished_before_the_run(pack: Path, cache: Path) -> None:
    environment = ensure_environment(pack, "acme/tiny").python.parents[1]
    (environment / ".evalsi-ready").unlink()
    shutil.rmtree(environment / "lib")
    found, notes = run(pack, cache)
    assert found.summaries[0].n == 5
    assert len(begun(notes)) == 1


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import not_there_at_all\n", "not_there_at_all"),
        ("def red(:\n", "tiny.py, line 1"),
        ("from words import BLUE\n", "BLUE"),
        ("raise SystemExit(3)\n", "exited with code 3"),
        ("import os; os._exit(4)\n", "exited with code 4"),
        ("", "has no evaluator"),
    ],
)
def test_a_pack_whose_own_code_is_broken_is_told_so_and_nothing_is_built(
    pack: Path, cache: Path, code: str, said: str
) -> None:
    (pack / "src" / "tiny.py").write_text(code)
    notes: list[str] = []
    request = Request(Lines([{"output": "a"}]), [Wanted("red")], processes=1)
    with pytest.raises(PackError, match=said):
        evaluate(request, load_catalog([pack], cache), listener=Listener(on_note=notes.append))
    assert begun(notes) == []
    assert "the environment of acme/tiny is as it was built, so it is not made again" in notes


@pytest.mark.parametrize("how", ["changed", "compiled", "linked"])
def test_an_environment_that_was_written_to_is_made_anew(pack: Path, cache: Path, how: str) -> None:
    module = site_packages(pack) / "words.py"
    (compiled,) = (module.parent / "__pycache__").glob("words.*.pyc")
    hurt = compiled if how == "compiled" else module
    # Put in the place of the file, which has a second name in the cache of uv.
    content = hurt.read_bytes()
    hurt.unlink()
    if how == "linked":
        hurt.symlink_to("/nowhere/words.py")
    else:
        hurt.write_bytes(content.replace(b"RED = 'red'", b"raise NoRed") if how == "changed" else content[:20])
        # Compiled code is taken for the source's by whole seconds and size.
        os.utime(hurt, (1, 1))
    found, notes = run(pack, cache)
    assert (found.summaries[0].n, found.summaries[0].mean) == (5, 1.0)
    assert begun(notes) == ["building the environment of acme/tiny (again)…"]
    assert begun(run(pack, cache)[1]) == []


def test_an_environment_whose_files_nobody_listed_is_made_anew_once(pack: Path, cache: Path) -> None:
    (site_packages(pack).parents[2] / ".evalsi-files").unlink()
    (pack / "src" / "tiny.py").write_text("import not_there_at_all\n")
    counts = []
    for _ in range(2):
        notes: list[str] = []
        request = Request(Lines([{"output": "a"}]), [Wanted("red")], processes=1)
        with pytest.raises(PackError, match="not_there_at_all"):
            evaluate(request, load_catalog([pack], cache), listener=Listener(on_note=notes.append))
        counts.append(len(begun(notes)))
    assert counts == [1, 0]
