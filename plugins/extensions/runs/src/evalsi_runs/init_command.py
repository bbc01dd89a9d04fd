"""Owns `evalsi init`: a spec and its data that run at once, offline, and show where everything goes.

It must not know how a run is done.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

from evalsi_kernel.errors import OutputError, UsageError

OK = 0
TEMPLATES: Final[Mapping[str, Sequence[str]]] = {
    "recorded": ("run.yaml", "questions.jsonl", "recorded.jsonl"),
    "agent": ("run.yaml", "tasks.jsonl", "agent.py", "checks.py"),
}


class Init:
    """The command."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags."""
        parser.add_argument("folder", nargs="?", type=Path, default=Path("evals"), help="where to write it (evals)")
        what = "what to start from: answers that were recorded (default), or an agent whose steps are scored too"
        parser.add_argument("--template", choices=tuple(TEMPLATES), default="recorded", help=what)
        parser.add_argument("--force", action="store_true", help="write over files that are there")

    def run(self, options: argparse.Namespace) -> int:
        """Write the files, and say what to do next."""
        folder: Path = options.folder
        files = TEMPLATES[options.template]
        there = [name for name in files if (folder / name).exists()]
        if there and not options.force:
            raise UsageError(
                f"{folder} has {' and '.join(there)} already.", "Name another folder, or write over them with --force."
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in files:
                text = resources.files(__package__).joinpath("starter", options.template, name).read_text("utf-8")
                (folder / name).write_text(text, "utf-8")
        except OSError as error:
            raise OutputError(f"{folder} cannot be written: {error.strerror}.", "Name another folder.") from error
        spec = folder / "run.yaml"
        print(f"Wrote {', '.join(str(folder / name) for name in files)}.")
        print(f"Run it, offline: evalsi run -f {spec}")
        print(f"Then put your own target and data into {spec}; your editor knows its keys from `evalsi schema run`.")
        return OK
