"""Walks through a page as a reader does: types its commands, runs its Python, and compares what is printed.

A page has a folder of its own with a copy of examples/, where its commands and its Python leave their files.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.docs.blocks import Block, blocks_of, commands_of, fits

ROOT = Path(__file__).resolve().parents[2]
BOUND_S = 60.0
MARK = "--- exit code"
PROGRESS = re.compile(r"^.*[\d,]+ records, [\d,]+/s(, [\d,]+ s left)?\n", re.MULTILINE)


def lay_out(folder: Path) -> Path:
    """Give a folder what a reader of a page has at hand; returns it."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


def walk(page: Path, folder: Path) -> None:
    """Follow a page from top to bottom.

    Raises:
        AssertionError: something printed is not what the page promises, or a command fails and the page does not ask
            for its exit code.
    """
    variables: dict[str, Any] = {"__name__": "page"}
    blocks = list(blocks_of(page.read_text(encoding="utf-8")))
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        place = f"{page.relative_to(ROOT)}, line {block.line}"
        if block.language == "console":
            type_in(block, folder, place)
        elif block.file_name is not None:
            (folder / block.file_name).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            promised = after.text if after and after.language == "text" and after.follows_at_once else None
            run_python(block, promised, variables, folder, place)


def type_in(block: Block, folder: Path, place: str) -> None:
    """Run the commands of a block in one shell."""
    commands = commands_of(block)
    script = "".join(f"{command.words}\ncode=$?; echo; echo '{MARK}' $code; (exit $code)\n" for command in commands)
    # A terminal shows what comes first first; through a pipe Python would hold stdout back.
    environment = os.environ | {
        # A page that edits a file and runs it again within a second must not meet what was compiled before.
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONUNBUFFERED": "1",
        "COLUMNS": "80",
    }
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    answers = list(_answers(done.stdout))
    assert len(answers) == len(commands), f"{place}: the shell ended early.\n{done.stdout}"
    asked = [command.words.strip() == "echo $?" for command in commands[1:]] + [False]
    for command, (printed, code), code_is_asked in zip(commands, answers, asked, strict=True):
        assert code == 0 or code_is_asked, f"{place}: `{command.words}` exits with {code}.\n{printed}"
        _compare(command.promised, printed, f"{place}: `{command.words}`")


def run_python(block: Block, promised: str | None, variables: dict[str, Any], folder: Path, place: str) -> None:
    """Run a block with the variables of those before it; None promises nothing about what it prints."""
    printed = io.StringIO()
    code = compile("\n" * (block.line - 1) + block.text, place, "exec")
    with contextlib.chdir(folder), _importing_from(folder), contextlib.redirect_stdout(printed):
        exec(code, variables)
    if promised is not None:
        _compare(promised, printed.getvalue(), place)


@contextlib.contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """Let the reader's own files be imported, as Python does in their folder, and forget them after."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]


def _answers(output: str) -> Iterator[tuple[str, int]]:
    printed: list[str] = []
    for line in output.splitlines():
        if line.startswith(MARK):
            yield "\n".join(printed), int(line.removeprefix(MARK))
            printed = []
        else:
            printed.append(line)


def _compare(promised: str, printed: str, what: str) -> None:
    # Only a run that takes long has a line of progress; how long it takes is the machine's affair.
    printed = PROGRESS.sub("", printed)
    assert fits(promised, printed), f"{what} prints\n{printed.strip()}\n\nand the page promises\n{promised.strip()}"
