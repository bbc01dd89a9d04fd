"""`evalsi version`: the version, and with `--format json` what goes with it."""

from __future__ import annotations

import argparse
import json
import platform

from evalsi_cli.faults import OK
from evalsi_kernel.version import VERSION
from evalsi_protocol.limits import MAJORS


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print it")


def run(options: argparse.Namespace) -> int:
    """Print it."""
    if options.format == "json":
        print(json.dumps({"evalsi": VERSION, "protocol": list(MAJORS), "python": platform.python_version()}))
    else:
        print(f"evalsi {VERSION}")
    return OK
