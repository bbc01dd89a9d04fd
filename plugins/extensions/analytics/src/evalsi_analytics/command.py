"""Owns the command `evalsi analyze`: flags in, a table out.

It must not know SQL.
"""

from __future__ import annotations

import argparse

from evalsi_kernel.commands import Toolkit


class Analyze:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags."""

    def run(self, options: argparse.Namespace) -> int:
        """Load, ask, print."""
        return 0
