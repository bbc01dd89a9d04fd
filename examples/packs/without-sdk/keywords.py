"""A complete pack without the SDK, on the standard library and msgpack. Ids such as OUT-2 refer to protocol/spec."""

import os
import sys
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import msgpack

MANIFEST = tomllib.loads(Path(__file__).with_name("plugin.toml").read_text("utf-8"))
PACK, ONLY = {"name": MANIFEST["name"], "version": MANIFEST["version"]}, MANIFEST["evaluators"][0]
REQUEST, RESPONSE, ERROR, EVENT = range(4)
REFUSED = {"hello": "protocol.version", "open": "config.unknown_evaluator", "score": "protocol.session"}
REFUSED |= dict.fromkeys(("plan", "reduce", "aggregate"), "pack.not_supported")
HINT = "Ask for what this pack describes, in protocol 1; a kernel that does not speak it needs a newer pack."
worker, wire, opened, cancelled = ThreadPoolExecutor(1), os.fdopen(os.dup(1), "wb"), set(), set()
running, KEYS = [], ("request", "index", "session", "ms")
os.dup2(2, 1)  # Printed text goes to the log, not into the stream (SUP-1).


def send(kind, number, method, body):
    frame = msgpack.packb([kind, number, method, body, {}])
    wire.write(len(frame).to_bytes(4, "big") + frame)  # FRM-1, FRM-2; the writer's lock keeps frames from mixing.
    wire.flush()


def score(record):
    if "output" not in record:
        return "skipped", {"reason": "record has no output"}  # Never a number (OUT-2).
    return "scored", [{"passed": not any(one in str(record["output"]) for one in ("I cannot", "I can't"))}]


def answer(number, method, body):
    if method == "hello" and 1 in body["majors"]:
        return {"major": 1, "pack": PACK, "capabilities": ["score"], "window": 64}
    if method == "describe":
        return {"pack": PACK, "evaluators": [ONLY]}
    if method == "open" and body["evaluator"] == ONLY["name"]:
        if body.get("params"):
            return {"code": "config.param", "message": "This evaluator has no params.", "hint": "Give none."}  # OPN-1
        if body["session"] in opened:
            return {"code": "protocol.session", "message": "It is already open.", "hint": "Close it."}  # OPN-2
        opened.add(body["session"])
        return {"evaluator": ONLY}
    if method == "score" and opened.issuperset(body["sessions"]):
        counts = Counter()
        for index, record in enumerate(body["records"]):
            if number in cancelled:
                break  # CAN-2, CAN-4
            running[:] = [(number, index, body["sessions"][0], monotonic())]
            outcome, payload = score(record)
            items = [[session, index, outcome, payload] for session in body["sessions"]]
            send(EVENT, 0, "item", {"request": number, "items": items})  # Immediately: SCO-1, ITM-5, PNG-2.
            counts[outcome] += len(items)
        running.clear()
        return {"outcomes": counts}  # SCO-3
    if method in ("close", "bye"):
        opened.discard(body.get("session"))
        return {}
    return {"code": REFUSED.get(method, "protocol.unknown_method"), "message": f"No such {method}.", "hint": HINT}


def do(number, method, body):
    try:
        said = answer(number, method, body)
    except (KeyError, TypeError) as fault:
        said = {"code": "protocol.body", "message": f"A field is absent or of another type: {fault}."}  # REQ-8
    send(ERROR if "code" in said else RESPONSE, number, method, said)  # REQ-3


while len(head := sys.stdin.buffer.read(4)) == 4:
    kind, number, method, body, _ = msgpack.unpackb(sys.stdin.buffer.read(int.from_bytes(head, "big")))
    if kind == EVENT and method == "cancel":
        cancelled.add(body.get("id"))
    elif kind == REQUEST and method == "ping":
        at_work = [
            dict(zip(KEYS, [*one, int(1000 * (monotonic() - since))], strict=True)) for *one, since in running[:]
        ]
        send(RESPONSE, number, method, {"running": at_work})  # Immediately, even during a computation (PNG-1).
    elif kind == REQUEST:
        worker.submit(do, number, method, body)
os._exit(0)  # The stream has ended (SUP-3), also after a bye (SUP-4).
