"""Serve a pack as a process, over standard input and output or a socket.

Descriptor 1 is redirected to stderr before the pack is imported, so that prints cannot corrupt frames.
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
"""Interpreter switch interval. With Python's default of 5 ms, a computing thread would stall the reader and writer."""
GARBAGE_AFTER_OBJECTS = 50_000
ORPHAN_S = 5.0
"""Seconds that work may continue after the kernel closed the connection."""


def serve(module: str, *, name: str = "", version: str = "0") -> None:
    """Serve a pack's module over standard input and output until the kernel ends the session.

    Args:
        module: import name of the pack.
        name: name of the pack; the module's name by default.
        version: version of the pack.
    """
    channel = take_standard_streams()
    Host(channel, name or module, version, lambda: from_module(module)).serve()


def take_standard_streams() -> Channel:
    """Return a channel over the original descriptors 0 and 1; redirect 0 to the null device and 1 to stderr."""
    wire_in, wire_out = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Prints of an evaluator appear in the log at once and are not lost if the process is killed.
        sys.stdout.reconfigure(line_buffering=True)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return FdChannel(wire_in, wire_out)


def start(
    *, module: str = "", file: str = "", attribute: str = "", name: str = "", version: str = "0", listen: str = ""
) -> NoReturn:
    """Serve a pack until the kernel ends the session, then exit the process.

    Args:
        module: import name of the pack; "" if `file` is given.
        file: path of a Python file with evaluators.
        attribute: name of the only evaluator to serve; "" serves all.
        name: name of the pack, for `hello`.
        version: version of the pack, for `hello`.
        listen: address to listen on instead of standard input and output: `unix:///path` or `tcp://127.0.0.1:PORT`.
    """
    FaultLog.writes = True
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    # Records and outcomes have no reference cycles; default garbage collection would take 10% of the scoring time.
    gc.set_threshold(GARBAGE_AFTER_OBJECTS, 20, 50)

    def load() -> dict[str, Definition]:
        if module:
            return from_module(module, attribute)
        from pathlib import Path  # Imported late: it takes 4 ms, and modules do not need it.

        return from_file(Path(file), attribute)

    if listen:
        from evalsi.listening import listen_at  # Imported late: rarely used.

        listen_at(listen, name or module or file, version, load)
    else:
        # Takes 2 ms, so it is done while the kernel is still starting.
        end_with_parent()
        Host(take_standard_streams(), name or module or file, version, load, on_over=_leave_soon).serve()
    # Exit without waiting for threads of the pack's libraries.
    sys.stderr.flush()
    os._exit(0)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run `python -m evalsi.serving --module NAME | --file PATH`, to start a pack by hand."""
    import argparse  # Imported late: it takes 10 ms, and packs started by the kernel do not need it.

    parser = argparse.ArgumentParser(prog="python -m evalsi.serving", description=__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--module", default="", help="import name of the pack")
    source.add_argument("--file", default="", help="a Python file with evaluators")
    parser.add_argument("--attribute", default="", help="serve only this evaluator")
    parser.add_argument("--name", default="", help="name of the pack")
    parser.add_argument("--version", default="0", help="version of the pack")
    parser.add_argument(
        "--listen", default="", help="listen on unix:///PATH or tcp://127.0.0.1:PORT instead of stdin and stdout"
    )
    start(**vars(parser.parse_args(arguments)))


def _leave_soon() -> None:
    """Exit after `ORPHAN_S`, so that an evaluator which never returns does not leave an orphan process."""
    timer = threading.Timer(ORPHAN_S, os._exit, (0,))
    timer.daemon = True
    timer.start()


if __name__ == "__main__":
    main()
