"""Serve a pack as a process: over standard input and output, or where kernels connect to it.

Descriptor 1 is moved to stderr before the pack is imported, so that a print can never break a frame.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

from evalsi.definition import Definition
from evalsi.fault_log import FaultLog
from evalsi.host import Host
from evalsi.loading import from_file, from_module
from evalsi.parent import end_with_parent
from evalsi_protocol.channels import Channel, FdChannel

SWITCH_INTERVAL_S = 0.0005
"""How soon a computing thread lets the reader and the writer in; Python's own 5 ms would stall a full window."""
GARBAGE_AFTER_OBJECTS = 50_000
ORPHAN_S = 5.0
"""How long work may go on after the kernel is gone."""


def serve(module: str, *, name: str = "", version: str = "0") -> None:
    """Serve a pack's module over this process's standard input and output until the kernel says goodbye.

    Args:
        module: the pack's import name.
        name: of the pack; the module's name by default.
        version: of the pack.
    """
    channel = take_standard_streams()
    Host(channel, name or module, version, lambda: from_module(module)).serve()


def take_standard_streams() -> Channel:
    """A channel over descriptors 0 and 1, which from now on are empty and stderr for everybody else."""
    wire_in, wire_out = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What an evaluator prints is in the log at once, and not lost where the process ends.
        sys.stdout.reconfigure(line_buffering=True)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return FdChannel(wire_in, wire_out)


def start(
    *, module: str = "", file: str = "", attribute: str = "", name: str = "", version: str = "0", listen: str = ""
) -> NoReturn:
    """Be a pack's process: serve until the kernel says goodbye or goes away, then end.

    Args:
        module: the pack's import name; or
        file: a Python file with evaluators.
        attribute: only this evaluator of it.
        name, version: of the pack, for `hello`.
        listen: `unix:///path` or `tcp://127.0.0.1:PORT` to serve on, instead of standard input and output.
    """
    FaultLog.writes = True
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    # Records and outcomes are trees, freed as they go; looking for cycles among them costs a tenth of the scoring.
    gc.set_threshold(GARBAGE_AFTER_OBJECTS, 20, 50)

    def load() -> dict[str, Definition]:
        if module:
            return from_module(module, attribute)
        from pathlib import Path  # Four milliseconds that a pack which is a module need not wait for.

        return from_file(Path(file), attribute)

    if listen:
        from evalsi.listening import listen_at  # Few packs are services.

        listen_at(listen, name or module or file, version, load)
    else:
        # Now, while the kernel is still loading: it costs two milliseconds, for which nobody waits yet.
        end_with_parent()
        Host(take_standard_streams(), name or module or file, version, load, on_over=_leave_soon).serve()
    # Threads of the pack's libraries must not keep a process alive that has said goodbye.
    sys.stderr.flush()
    os._exit(0)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """`python -m evalsi.serving --module NAME | --file PATH`: start a pack by hand, as the kernel does with `start`."""
    import argparse  # 10 ms that a pack which the kernel starts need not wait for.

    parser = argparse.ArgumentParser(prog="python -m evalsi.serving", description=__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--module", default="", help="import name of the pack")
    source.add_argument("--file", default="", help="a Python file with evaluators")
    parser.add_argument("--attribute", default="", help="only this evaluator of it")
    parser.add_argument("--name", default="", help="of the pack")
    parser.add_argument("--version", default="0", help="of the pack")
    parser.add_argument(
        "--listen", default="", help="unix:///PATH or tcp://127.0.0.1:PORT to serve on, instead of stdin and stdout"
    )
    start(**vars(parser.parse_args(arguments)))


def _leave_soon() -> None:
    """The kernel is gone: an evaluator that never returns must not live on as an orphan."""
    timer = threading.Timer(ORPHAN_S, os._exit, (0,))
    timer.daemon = True
    timer.start()


if __name__ == "__main__":
    main()
