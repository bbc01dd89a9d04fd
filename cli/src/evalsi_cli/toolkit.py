"""What the command line lends the commands of extensions, so that the same flags mean the same everywhere.

It must not know a command.
"""

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
    """What a command of an extension is lent."""

    def add_model_flags(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags that name models."""
        add_model_flags(parser)

    def models_of(self, options: argparse.Namespace) -> BrokerSettings | None:
        """The models that flags and variables name."""
        return models_of(options)

    def wanted_evaluators(self, words: Sequence[str]) -> list[Wanted]:
        """Read `--evaluators`."""
        return wanted_evaluators(words)

    @contextmanager
    def listening(self, *, total: int | None = None, quiet: bool = False, verbose: bool = False) -> Iterator[Listener]:
        """Who shows progress and notes, and with `verbose` what packs print; clears its line at the end."""
        progress = ProgressLine(total, quiet=quiet)
        try:
            yield listener_of(progress, verbose=verbose)
        finally:
            progress.clear()

    def as_json(self, value: Any) -> str:
        """The value as indented JSON."""
        return as_json(value)

    def paint(self, text: str, colour: str) -> str:
        """The text in a colour, where standard output is a terminal that takes colours."""
        return paint(text, colour, sys.stdout)

    def preview_text(self, preview: Preview) -> str:
        """What a dry run foresees."""
        return preview_text(preview)

    def tell(self, evaluation: Evaluation, *, quiet: bool = False) -> int:
        """Print findings and error; returns the exit code."""
        return tell_evaluation(evaluation, quiet=quiet)
