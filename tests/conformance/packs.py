"""Packs of a test: a folder with a manifest, and a program that speaks the protocol as the test wants it.

The program is Python on the protocol's own machine, without the SDK; `answers` is the body of `score_one`, and `memory`
a list that lives as long as its process.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

from evalsi_conformance.bench import Settings
from evalsi_conformance.findings import Finding, Level, Report
from evalsi_conformance.kit import Released, check_pack
from evalsi_conformance.pack_process import Program
from tests.architecture.distributions import ROOT

QUICK = Settings(timeout_s=60.0, start_timeout_s=60.0)
MANIFEST = """\
manifest = 1
name = "{name}"
version = "{version}"
summary = "A pack of a test."
protocol = 1

[run]
module = "program.py"
runtime = "program"

[[evaluators]]
name = "polite"
version = "{evaluator_version}"
needs = ["output"]
asks = {asks}
outputs = [{{ name = "", kind = "number", minimum = 0, maximum = 1 }}]
scope = "{scope}"
params = {{ type = "object", additionalProperties = false, properties = {{ strict = {{ type = "boolean" }} }} }}
{permissions}"""
PROGRAM = '''\
"""A pack of a test."""

import os
import random
import sys
import threading
import time

sys.path.insert(0, {protocol!r})
import tomllib
from pathlib import Path

from evalsi_protocol.errors import WireError
from evalsi_protocol.machine import ErrorReceived, Machine, RequestReceived, ResponseReceived, SessionEnded

TABLE = tomllib.loads((Path(__file__).parent / "plugin.toml").read_text())
HERE = TABLE["evaluators"][0]
DEFAULTS = {{"summary": "", "scope": "record", "needs": [], "asks": [], "outputs": [], "params": {{}}}}
machine = Machine("pack", window=64)
opened, waiting, memory, capabilities = {{}}, [], [], set()
unsent, current, partly = [], [], {{}}
HOLD_S = 0.02


def aggregate_all(states, session):
    return sum(states) / len(states)


def resample(states, count, seed):
    generator = random.Random(seed)
    drawn = (generator.choices(states, k=len(states)) for _ in range(count))
    return [sum(one) / len(one) for one in drawn]


def close(session):
    opened.pop(session, None)
    partly.pop(session, None)


def running():
    return [{{"request": r, "index": i, "session": s, "ms": 1}} for r, i, s in current]


def accepts(params):
    return not set(params) - {{"strict"}} and isinstance(params.get("strict", True), bool)


def flush(request_id):
    if unsent:
        machine.tell("item", {{"request": request_id, "items": unsent[:]}})
        unsent.clear()


def is_due(since):
    return time.monotonic() - since > HOLD_S


{overrides}


def score_one(record, ask, params):
{answers}


def body_of(request):
    method, body = request.method, request.body
    if method == "hello":
        capabilities.update(body["capabilities"])
        pack = {{"name": TABLE["name"], "version": TABLE["version"]}}
        return {{"major": 1, "pack": pack, "capabilities": ["score"], "window": 64}}
    if method == "describe":
        return {{"pack": {{}}, "evaluators": [DEFAULTS | HERE | {described}]}}
    if method == "open":
        if not isinstance(body.get("evaluator"), str):
            return WireError("protocol.body", "No evaluator.")
        if body["evaluator"] != "polite":
            return WireError("config.unknown_evaluator", "None of mine.")
        if body["session"] in opened:
            return WireError("protocol.session", "It is open.")
        given = body.get("params", {{}})
        if not accepts(given):
            return WireError("config.param", "No such param.")
        opened[body["session"]] = given
        return {{"evaluator": HERE}}
    if method == "close":
        close(body.get("session"))
        return {{}}
    if method == "aggregate":
        session = body["session"]
        if session not in opened:
            return WireError("protocol.session", "It is not open.")
        states = partly.setdefault(session, [])
        states += body["states"]
        if body.get("more"):
            return {{"states": len(states)}}
        del partly[session]
        value = aggregate_all(states, session)
        count = body.get("resamples", 0)
        replicates = {{"": resample(states, count, body.get("seed", 0))}} if count else {{}}
        return {{"outcome": "scored", "payload": [{{"value": value}}], "replicates": replicates}}
    if method == "score":
        if not isinstance(body.get("records"), list):
            return WireError("protocol.body", "No records.")
        if not set(body["sessions"]) <= opened.keys():
            return WireError("protocol.session", "It is not open.")
        return score(request.id, body)
    return {{}} if method == "bye" else WireError("pack.not_supported", "Not here.")


def score(request_id, body):
    counts, since = {{}}, time.monotonic()
    for index, record in enumerate(body["records"]):
        for session in body["sessions"]:
            current[:] = [(request_id, index, session)]
            if "output" not in record:
                item = [session, index, "skipped", {{"reason": "record has no output"}}]
            else:
                item = [session, index, *outcome(record, session)]
            counts[item[2]] = counts.get(item[2], 0) + 1
            unsent.append(item)
            if is_due(since):
                flush(request_id)
                send()
                since = time.monotonic()
    current.clear()
    flush(request_id)
    return {{"outcomes": counts}}


def outcome(record, session):
    def ask():
        question = {{"messages": [{{"role": "user", "content": str(record["output"])[:80]}}]}}
        body = {{"session": session, "record": record["id"], "requests": [question]}}
        if current and is_due(0.0):
            flush(current[0][0])
        mine = machine.request("judge.ask", body)
        while True:
            for event in read():
                if isinstance(event, ResponseReceived) and event.id == mine:
                    return event.body["replies"][0]
                if isinstance(event, ErrorReceived) and event.id == mine:
                    return {{"error": event.error.to_body()}}
                take(event)

    result = score_one(record, ask, opened[session])
    if HERE.get("scope") == "dataset":
        return ["state", {{"state": result}}]
    return result if isinstance(result, list) else ["scored", [{{"value": result}}]]


def read():
    send()
    data = os.read(0, 65536)
    return machine.receive(data) if data else machine.receive_eof()


def send():
    data = machine.data_to_send()
    while data:
        data = data[os.write(1, data):]


def take(event):
    if isinstance(event, SessionEnded):
        os._exit(0)
    if isinstance(event, RequestReceived):
        if event.method == "ping":
            if current:
                flush(current[0][0])
            machine.respond(event.id, {{"running": running()}})
        else:
            waiting.append(event)


{start}
while True:
    while waiting:
        request = waiting.pop(0)
        answer = body_of(request)
        if isinstance(answer, WireError):
            machine.fail(request.id, answer)
        else:
            machine.respond(request.id, answer)
        if request.method == "bye":
            send()
            os._exit(0)
    for event in read():
        take(event)
'''


def write_pack(
    folder: Path,
    answers: str = "return 1.0",
    *,
    name: str = "acme/tone",
    version: str = "1.0",
    evaluator_version: str = "1",
    asks: str = "[]",
    described: str = "{}",
    start: str = "",
    overrides: str = "",
    scope: str = "record",
    permissions: str = "",
) -> Path:
    """Write a pack.

    Args:
        folder: where; it is made.
        answers: the body of `score_one(record, ask, params)`, which gives a number or `[outcome, payload]`.
        described: what its process says of the evaluator beside what its manifest says, as Python.
        start: code that runs before anything is read.
        overrides: functions of the program in place of its own: `aggregate_all`, `resample`, `close`, `running`,
            `accepts`, `is_due`.
        scope: of the evaluator.
        permissions: a table of its manifest, as TOML.
    """
    folder.mkdir()
    manifest = MANIFEST.format(
        name=name, version=version, evaluator_version=evaluator_version, asks=asks, scope=scope, permissions=permissions
    )
    (folder / "plugin.toml").write_text(manifest, "utf-8")
    program = PROGRAM.format(
        protocol=str(ROOT / "protocol" / "src"),
        answers=textwrap.indent(textwrap.dedent(answers), "    "),
        described=described,
        overrides=textwrap.dedent(overrides),
        start=textwrap.dedent(start),
    )
    (folder / "program.py").write_text(program, "utf-8")
    return folder


def program_of(folder: Path) -> Program:
    """How a process of such a pack is started."""
    return Program((sys.executable, str(folder / "program.py")))


def checked(folder: Path, *, level: Level = "trustworthy", released: Path | None = None, **settings: Any) -> Report:
    """The kit's report on such a pack."""
    against = Released(released, program_of(released)) if released else None
    patience = QUICK._replace(**settings)
    return check_pack(folder, program_of(folder), level=level, against=against, settings=patience)


def faults(report: Report) -> dict[str, Finding]:
    """The first fault of each check that failed."""
    found: dict[str, Finding] = {}
    for one in report.failed:
        found.setdefault(one.check, one)
    return found


def first_fault(report: Report, check: str) -> Finding:
    """The first fault of a check, which must have failed; what was found instead is shown."""
    found = faults(report)
    assert check in found, [f"{one.check} {one.status}: {one.message}" for one in report.findings]
    return found[check]
