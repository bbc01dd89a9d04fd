"""`evalsi version`: print the version; `--format json` adds the protocol and Python versions."""

from __future__ import annotations

import argparse
import json
import platform

from evalsi_cli.faults import OK
from evalsi_kernel.version import VERSION
from evalsi_protocol.limits import MAJORS


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")


def run(options: argparse.Namespace) -> int:
    """Print the version."""
    if options.format == "json":
        print(json.dumps({"evalsi": VERSION, "protocol": list(MAJORS), "python": platform.python_version()}))
    else:
        print(f"evalsi {VERSION}")
    return OK
