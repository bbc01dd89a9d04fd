"""Interface of commands that extensions implement, and the services that the host's command line offers them."""

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
    """Services of the host's command line, so that the same flags mean the same in every command."""

    def add_model_flags(self, parser: argparse.ArgumentParser) -> None:
        """Add `--judge-…`, `--embed-…`, `--no-cache` and `--dry-run`."""

    def models_of(self, options: argparse.Namespace) -> BrokerSettings | None:
        """Return the models that those flags and their environment variables name; raise `UsageError`."""

    def wanted_evaluators(self, words: Sequence[str]) -> list[Wanted]:
        """Parse `--evaluators`; raise `UsageError`."""

    def listening(
        self, *, total: int | None = None, quiet: bool = False, verbose: bool = False
    ) -> AbstractContextManager[Listener]:
        """Return a context manager that shows progress and notes on standard error.

        `quiet` shows nothing; `verbose` also shows what packs print and log.
        """

    def as_json(self, value: Any) -> str:
        """Return the value as indented JSON, in the character set of standard output."""

    def paint(self, text: str, colour: str) -> str:
        """Return the text in red, green, yellow, dim or bold, if standard output is a terminal with colours."""

    def preview_text(self, preview: Preview) -> str:
        """Return the calls and costs that a dry run expects, as text for the user."""

    def print_findings(self, evaluation: Evaluation, *, quiet: bool = False) -> int:
        """Print the findings and the error of an evaluation to standard error; return the exit code."""


class Command(Protocol):
    """A subcommand. Results go to standard output, everything else to standard error."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add flags and arguments.

        A command with several actions adds them with `parser.add_subparsers(dest="action")`, so that the suggestion for
        a mistyped flag comes from the flags of that action.
        """

    def run(self, options: argparse.Namespace) -> int:
        """Run the command; return 0 for success, 1 for an error, 3 for a failed gate, or what `print_findings` returns.

        Raises:
            EvalsiError: printed with its hint; the exit code is 1, or 2 for a `UsageError`.
        """
