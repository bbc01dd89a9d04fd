"""A whole pack without the SDK: standard library and msgpack. Ids such as OUT-2 are sentences of protocol/spec."""

import json
import os
import queue
import sys
import threading
import tomllib
from pathlib import Path

import msgpack

MANIFEST = tomllib.loads((Path(__file__).parent / "plugin.toml").read_text("utf-8"))
PACK, ONLY = {key: MANIFEST[key] for key in ("name", "version")}, MANIFEST["evaluators"][0]
REQUEST, RESPONSE, ERROR, EVENT = range(4)
REFUSED = {"hello": "protocol.version", "open": "config.unknown_evaluator"}
REFUSED |= dict.fromkeys(("plan", "reduce", "aggregate"), "pack.not_supported")
wire, turn, work, opened, cancelled = os.dup(1), threading.Lock(), queue.Queue(), set(), set()
os.dup2(2, 1)  # Whatever prints writes into the log, not into the stream (SUP-1).


def send(kind, number, method, body):
    frame = msgpack.packb([kind, number, method, body, {}])
    with turn:
        os.write(wire, len(frame).to_bytes(4, "big") + frame)  # FRM-1, FRM-2


def words(content):
    return set((content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)).lower().split())


def score(record):
    for need in ONLY["needs"]:
        if need not in record:
            return "skipped", {"reason": f"record has no {need}"}  # Never a number (OUT-2).
    right = record["reference"] if isinstance(record["reference"], list) else [record["reference"]]
    shares = [len(one & words(record["output"])) / len(one) for one in map(words, right) if one]
    return ("scored", [{"value": max(shares)}]) if shares else ("skipped", {"reason": "the reference has no words"})


def score_all(request, sessions, records):
    counts = {}
    if not set(sessions) <= opened:
        return "protocol.session", "A session is not open."  # SCO-2
    for index, record in enumerate(records):
        if request in cancelled:
            return "protocol.cancelled", "The request was cancelled."  # CAN-2
        outcome, payload = score(record)
        items = [[session, index, outcome, payload] for session in sessions]
        send(EVENT, 0, "item", {"request": request, "items": items})  # SCO-1
        counts[outcome] = counts.get(outcome, 0) + len(items)
    return {"outcomes": counts}  # SCO-3


def answer(number, method, body):
    if method == "hello" and 1 in body["majors"]:
        return {"major": 1, "pack": PACK, "capabilities": ["score"], "window": 64}
    if method == "describe":
        return {"pack": PACK, "evaluators": [ONLY]}
    if method == "open" and body.get("params"):
        return "config.param", "keyword-share has no params."  # OPN-1
    if method == "open" and body["evaluator"] == ONLY["name"]:
        fresh = body["session"] not in opened
        opened.add(body["session"])
        return {"evaluator": ONLY} if fresh else ("protocol.session", "It is open already.")  # OPN-2
    if method == "score":
        return score_all(number, body["sessions"], body["records"])
    if method in ("close", "bye"):
        opened.discard(body.get("session"))
        return {}
    return REFUSED.get(method, "protocol.unknown_method"), f"This pack cannot do that {method}."  # REQ-6, REQ-7


def do_requests():
    while True:
        number, method, body = work.get()
        try:
            said = answer(number, method, body)
        except (KeyError, TypeError) as fault:
            said = "protocol.body", f"A field is absent or of another type: {fault}."  # REQ-8
        kind, said = (RESPONSE, said) if isinstance(said, dict) else (ERROR, {"code": said[0], "message": said[1]})
        send(kind, number, method, said)  # REQ-3
        if method == "bye":
            os._exit(0)  # SUP-4


threading.Thread(target=do_requests, daemon=True).start()
while len(head := sys.stdin.buffer.read(4)) == 4:
    kind, number, method, body, _ = msgpack.unpackb(sys.stdin.buffer.read(int.from_bytes(head, "big")))
    if kind == EVENT and method == "cancel":
        cancelled.add(body.get("id"))
    elif kind == REQUEST and method == "ping":
        send(RESPONSE, number, method, {"running": []})  # At once, whatever is computed (PNG-1).
    elif kind == REQUEST:
        work.put((number, method, body))
