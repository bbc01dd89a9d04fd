"""A pack without the SDK that does not leave: `python stubborn.py ignores-bye | ignores-everything`."""

from __future__ import annotations

import signal
import sys
import threading

from evalsi_protocol.channels import FdChannel
from evalsi_protocol.greeting import pack_hello
from evalsi_protocol.machine import Machine, RequestReceived


def main(how: str) -> None:
    if how == "ignores-everything":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    channel = FdChannel(0, 1)
    machine = Machine("pack")
    while data := channel.read():
        for event in machine.receive(data):
            if not isinstance(event, RequestReceived) or event.method == "bye":
                continue
            machine.respond(event.id, pack_hello(1, how, "0", []) if event.method == "hello" else {})
            channel.write(machine.data_to_send())
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1])
