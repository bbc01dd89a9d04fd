"""The actions of `evalsi plugins` for pack authors: `new`, `check`, `keygen` and `publish`.

The implementation of an action is imported only when it runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from evalsi_kernel.commands import Toolkit

Add = Callable[[str, str], argparse.ArgumentParser]
LEVELS = ("loads", "behaves", "trustworthy")
LANGUAGES = ("rust", "zig", "c", "assemblyscript", "js")


def configure(add: Add) -> None:
    """Add the actions and their flags."""
    new = add("new", "write a new pack that runs and conforms, for you to change")
    new.add_argument("name", metavar="PUBLISHER/NAME", help="such as acme/readability")
    new.add_argument("--dir", type=Path, metavar="DIR", help="the folder to make; NAME by default")
    new.add_argument("--wasm", choices=LANGUAGES, help="make it one WebAssembly module, written in this language")
    new.add_argument("--offline", action="store_true", help="lock from uv's own cache only")
    check = add("check", "run the conformance kit over a pack's folder")
    check.add_argument("folder", type=Path, metavar="DIR", help="the pack's folder, where its plugin.toml lies")
    check.add_argument("--level", choices=LEVELS, default="trustworthy", help="the last level to check")
    check.add_argument("--against", type=Path, metavar="DIR|ARCHIVE", help="the released pack, for the level stable")
    check.add_argument("--grant", metavar="KINDS", help="give it what it asks for: all, or of network, files, secrets")
    check.add_argument("--log", type=Path, metavar="FILE", help="file for what the pack's processes print to stderr")
    check.add_argument("--timeout-s", type=float, default=0.0, metavar="S", help="how long an answer may take")
    publish = add("publish", "check the archive of a release and write it into an index file")
    publish.add_argument("archive", type=Path, metavar="ARCHIVE", help="the wheel, or an archive of the pack's folder")
    publish.add_argument("--index", required=True, metavar="FILE", help="the index; made where it is not there")
    publish.add_argument("--url", metavar="URL", help="address of the archive; by default its path from the index")
    publish.add_argument("--sign", type=Path, metavar="KEYFILE", help="sign the release with this private key")
    keygen = add("keygen", "make a private key to sign releases with, and print its fingerprint")
    keygen.add_argument("file", type=Path, metavar="FILE", help="file to write the key to; must not exist")
    check.add_argument("--format", choices=("text", "json"), default="text", help="how to print the report")


def run_new(options: argparse.Namespace, toolkit: Toolkit) -> int:
    """`evalsi plugins new`."""
    from .new_pack import run_new as run

    return run(options, toolkit)


def run_check(options: argparse.Namespace, toolkit: Toolkit) -> int:
    """`evalsi plugins check`."""
    from .pack_check import run_check as run

    return run(options, toolkit)


def run_publish(options: argparse.Namespace, toolkit: Toolkit) -> int:
    """`evalsi plugins publish`."""
    from .publishing import run_publish as run

    return run(options, toolkit)


def run_keygen(options: argparse.Namespace, toolkit: Toolkit) -> int:
    """`evalsi plugins keygen`."""
    from .signatures import run_keygen as run

    return run(options, toolkit)


ACTIONS: dict[str, Callable[[argparse.Namespace, Toolkit], int]] = {
    "new": run_new,
    "check": run_check,
    "keygen": run_keygen,
    "publish": run_publish,
}
