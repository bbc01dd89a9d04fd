"""The actions of `evalsi plugins` for those who write packs: `new` and `check`.

A table of what each adds and does; the kit is loaded only when it is asked for.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from evalsi_kernel.commands import Toolkit

Add = Callable[[str, str], argparse.ArgumentParser]


def configure(add: Add) -> None:
    """Add the actions and their flags."""
    from .new_pack import configure_new
    from .pack_check import configure_check

    configure_new(add("new", "write a new pack that runs and conforms, for you to change"))
    configure_check(add("check", "run the conformance kit over a pack's folder"))


def run_new(options: argparse.Namespace, toolkit: Toolkit) -> int:
    """`evalsi plugins new`."""
    from .new_pack import run_new as run

    return run(options, toolkit)


def run_check(options: argparse.Namespace, toolkit: Toolkit) -> int:
    """`evalsi plugins check`."""
    from .pack_check import run_check as run

    return run(options, toolkit)


ACTIONS: dict[str, Callable[[argparse.Namespace, Toolkit], int]] = {"new": run_new, "check": run_check}
