"""A pack without the SDK that reads as little as it can: `python floods.py writes-all | deaf`."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from evalsi_protocol.channels import FdChannel
from evalsi_protocol.greeting import pack_hello
from evalsi_protocol.machine import Machine, RequestReceived

PADDING = "e" * 20_000


def main(how: str) -> None:
    channel = FdChannel(0, 1)
    machine = Machine("pack", window=64)
    while data := channel.read():
        for event in machine.receive(data):
            if not isinstance(event, RequestReceived):
                continue
            if event.method == "hello":
                machine.respond(event.id, pack_hello(1, how, "0", ["score"], window=64))
            elif event.method == "score" and how == "deaf":
                threading.Event().wait()
            elif event.method == "score":
                # A frame for each record, far more bytes than any pipe holds; nothing is read meanwhile.
                for index in range(len(event.body["records"])):
                    scores: list[dict[str, Any]] = [{"passed": True, "explanation": PADDING}]
                    item = [event.body["sessions"][0], index, "scored", scores]
                    machine.tell("item", {"request": event.id, "items": [item]})
                    channel.write(machine.data_to_send())
                machine.respond(event.id, {"outcomes": {}})
            else:
                machine.respond(event.id, {})
            channel.write(machine.data_to_send())
            if event.method == "bye":
                os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
