"""A pack without the SDK that keeps its first outcome back until it is pinged, and takes too long for the second."""

from __future__ import annotations

import os

from evalsi_protocol.channels import FdChannel
from evalsi_protocol.greeting import pack_hello
from evalsi_protocol.machine import Machine, RequestReceived


def main() -> None:
    channel = FdChannel(0, 1)
    machine = Machine("pack")
    asked = pings = 0
    while data := channel.read():
        for event in machine.receive(data):
            if not isinstance(event, RequestReceived):
                continue
            if event.method == "score":
                asked = event.id
            elif event.method == "ping":
                # What comes at the second ping, a whole time of a record later, comes too late.
                machine.tell("item", {"request": asked, "items": [[1, pings, "scored", [{"passed": True}]]]})
                pings += 1
                if pings == 2:
                    machine.respond(asked, {"outcomes": {}})
                running = {"request": asked, "index": 1, "session": 1, "ms": 1_000_000}
                machine.respond(event.id, {"running": [running] if pings == 1 else []})
            else:
                machine.respond(event.id, pack_hello(1, "keeps-back", "0", []) if event.method == "hello" else {})
            channel.write(machine.data_to_send())
            if event.method == "bye":
                os._exit(0)


if __name__ == "__main__":
    main()
