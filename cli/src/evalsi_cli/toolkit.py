"""Functions of the command line for commands of extensions, so that equal flags behave equally."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evalsi_cli.faults import tell_evaluation
from evalsi_cli.models import add_model_flags, models_of, preview_text
from evalsi_cli.terminal import ProgressLine, as_json, listener_of, paint
from evalsi_cli.wanted import wanted_evaluators
from evalsi_kernel.broker.settings import BrokerSettings
from evalsi_kernel.packs.wanted import Wanted
from evalsi_kernel.request import Listener

if TYPE_CHECKING:
    from evalsi_kernel.broker.preview import Preview
    from evalsi_kernel.results.evaluated import Evaluation


class Toolkit:
    """Functions available to a command of an extension."""

    def add_model_flags(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags that name models."""
        add_model_flags(parser)

    def models_of(self, options: argparse.Namespace) -> BrokerSettings | None:
        """Return the models given by flags and variables."""
        return models_of(options)

    def wanted_evaluators(self, words: Sequence[str]) -> list[Wanted]:
        """Parse `--evaluators`."""
        return wanted_evaluators(words)

    @contextmanager
    def listening(self, *, total: int | None = None, quiet: bool = False, verbose: bool = False) -> Iterator[Listener]:
        """Yield a listener that shows progress and notes, with `verbose` also the log of packs."""
        progress = ProgressLine(total, quiet=quiet)
        try:
            yield listener_of(progress, verbose=verbose)
        finally:
            progress.clear()

    def as_json(self, value: Any) -> str:
        """Return the value as indented JSON."""
        return as_json(value)

    def paint(self, text: str, colour: str) -> str:
        """Return the text in a colour if stdout is a terminal with colours."""
        return paint(text, colour, sys.stdout)

    def preview_text(self, preview: Preview) -> str:
        """Return the estimate of a dry run as text."""
        return preview_text(preview)

    def print_findings(self, evaluation: Evaluation, *, quiet: bool = False) -> int:
        """Print findings and error of an evaluation. Return the exit code."""
        return tell_evaluation(evaluation, quiet=quiet)
