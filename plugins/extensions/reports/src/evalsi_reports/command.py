"""Owns the command `evalsi report`: flags in, files out.

It must not know how a report looks.
"""

from __future__ import annotations

import argparse

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import UsageError


class Report:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags."""
        parser.add_argument("results", help="the results file of `evalsi eval` or `evalsi run`")

    def run(self, options: argparse.Namespace) -> int:
        """Read, fold, write."""
        raise UsageError("This form is not written yet.", "Wait.")
