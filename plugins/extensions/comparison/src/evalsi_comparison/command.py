"""Owns the command `evalsi compare`: flags in, a comparison out.

It must not know how a difference is tested.
"""

from __future__ import annotations

import argparse

from evalsi_kernel.commands import Toolkit


class Compare:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags."""

    def run(self, options: argparse.Namespace) -> int:
        """Read both files, compare, print."""
        return 0
