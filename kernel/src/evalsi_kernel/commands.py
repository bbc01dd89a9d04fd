"""The seam of commands that extensions bring: what one must do, and what the host's command line lends it.

It must not know a command, nor how a terminal is written to.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from evalsi_kernel.broker.preview import Preview
    from evalsi_kernel.broker.settings import BrokerSettings
    from evalsi_kernel.packs.wanted import Wanted
    from evalsi_kernel.request import Listener
    from evalsi_kernel.results.evaluated import Evaluation


class Toolkit(Protocol):
    """What the host's command line lends a command, so that the same flags mean the same everywhere."""

    def add_model_flags(self, parser: argparse.ArgumentParser) -> None:
        """Add `--judge-…`, `--embed-…`, `--no-cache` and `--dry-run`."""

    def models_of(self, options: argparse.Namespace) -> BrokerSettings | None:
        """The models that those flags and their variables name; raises `UsageError`."""

    def wanted_evaluators(self, words: Sequence[str]) -> list[Wanted]:
        """Read `--evaluators`; raises `UsageError`."""

    def listening(
        self, *, total: int | None = None, quiet: bool = False, verbose: bool = False
    ) -> AbstractContextManager[Listener]:
        """Who shows progress and notes on standard error until the context is left; `quiet` shows nothing.

        With `verbose`, what packs print and log is shown too.
        """

    def as_json(self, value: Any) -> str:
        """The value as indented JSON, in characters that standard output has."""

    def paint(self, text: str, colour: str) -> str:
        """The text in red, green, yellow, dim or bold where standard output is a terminal that takes colours."""

    def preview_text(self, preview: Preview) -> str:
        """What a dry run foresees, for a person."""

    def tell(self, evaluation: Evaluation, *, quiet: bool = False) -> int:
        """Print an evaluation's findings and its error to standard error; returns the exit code that they stand for."""


class Command(Protocol):
    """One command. Results go to standard output, everything else to standard error."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add flags and arguments.

        A command of several actions adds them with `parser.add_subparsers(dest="action")`, so that a mistaken flag is
        met with the nearest one of its action.
        """

    def run(self, options: argparse.Namespace) -> int:
        """Do it; returns the exit code: 0 fine, 1 an error, 3 a gate failed, or what `Toolkit.tell` gives.

        Raises:
            EvalsiError: it is printed with its hint, and becomes exit code 1, or 2 for a `UsageError`.
        """
