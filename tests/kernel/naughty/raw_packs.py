"""Packs without the SDK that break the protocol, one way each: `python raw_packs.py FAULT`."""

from __future__ import annotations

import os
import sys
from typing import Any

from evalsi_protocol.channels import FdChannel
from evalsi_protocol.greeting import pack_hello
from evalsi_protocol.machine import Machine, RequestReceived


def items_for(fault: str, request: RequestReceived) -> list[list[Any]]:
    session, count = request.body["sessions"][0], len(request.body["records"])
    items: list[list[Any]] = [[session, index, "scored", [{"passed": True}]] for index in range(count)]
    if fault == "answers_twice":
        items.append(items[0])
    elif fault == "leaves_gaps":
        items.pop()
    elif fault == "nan":
        items[0][3] = [{"value": float("nan")}]
    elif fault == "unknown_record":
        items[0][1] = count + 5
    elif fault == "unknown_outcome":
        items[0][2] = "perhaps"
    return items


def main(fault: str) -> None:
    channel = FdChannel(0, 1)
    machine = Machine("pack")
    while data := channel.read():
        for event in machine.receive(data):
            if not isinstance(event, RequestReceived):
                continue
            if event.method == "hello":
                machine.respond(event.id, pack_hello(1, fault, "0", []))
            elif event.method == "score":
                if fault == "garbage":
                    channel.write(b"\x00\x00\x00\x05hello")
                machine.tell("item", {"request": event.id, "items": items_for(fault, event)})
                machine.respond(event.id, {"outcomes": {}})
            else:
                machine.respond(event.id, {})
            channel.write(machine.data_to_send())
            if event.method == "bye":
                os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
