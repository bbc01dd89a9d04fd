"""The check *strangers* of the level *behaves*: frames that another version of the kernel may send.

Unknown methods, events and keys, and a stream that ends without `bye`. The machine would reject them, so frames are
written by hand to a separate process.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

from evalsi_conformance.bench import Bench
from evalsi_conformance.findings import Fault
from evalsi_conformance.pack_process import LEAVE_S, PackProcess
from evalsi_conformance.session import CAPABILITIES
from evalsi_protocol.errors import Violation
from evalsi_protocol.frames import Frame, FrameReader, Kind, encode_frame
from evalsi_protocol.greeting import kernel_hello

UNKNOWN: Final = "evalsi.conformance"


def strangers(bench: Bench) -> Iterator[Fault]:
    """Unknown methods are answered, unknown events and keys ignored, and the process ends with its stream."""
    session = bench.connect()
    process = session.process
    hello = kernel_hello("evalsi-conformance", "1", CAPABILITIES) | {"of a newer kernel": [1]}
    known = bench.subject.evaluators[0]["name"]
    params = bench.subject.params_of(bench.subject.evaluators[0])
    try:
        talk = _Talk(process, bench.timeout_s)
        yield from talk.expect("hello", hello, "", bench.settings.start_timeout_s)
        yield from talk.expect(UNKNOWN, {}, "protocol.unknown_method")
        talk.tell(UNKNOWN, {"x": 1})
        talk.tell("cancel", {"id": 999_999})
        opening = {"session": 1, "evaluator": known, "params": params, "of a newer kernel": {"a": 1}}
        yield from talk.expect("open", opening, "")
        yield from talk.expect("ping", {}, "")
        process.close_input()
        if process.exit_code(LEAVE_S) is None:
            what = f"Its process still runs {LEAVE_S:g} s after its stream ended without a goodbye (SUP-3)."
            yield Fault(what, "End the process when standard input is at its end.")
    finally:
        process.kill()


class _Talk:
    """A session with hand-written frames, one request after another."""

    def __init__(self, process: PackProcess, timeout_s: float) -> None:
        self._process = process
        self._timeout_s = timeout_s
        self._reader = FrameReader()
        self._frames: list[Frame] = []
        self._id = -1

    def tell(self, method: str, body: dict[str, Any]) -> None:
        """Send an event."""
        self._process.send(encode_frame(Kind.EVENT, 0, method, body))

    def expect(self, method: str, body: dict[str, Any], code: str, timeout_s: float = 0.0) -> Iterator[Fault]:
        """Send a request, and compare the code of its answer; "" expects success."""
        self._id += 2
        self._process.send(encode_frame(Kind.REQUEST, self._id, method, body))
        answer = self._answer(time.monotonic() + (timeout_s or self._timeout_s))
        if isinstance(answer, str):
            yield Fault(f"{method} {answer}", "Answer each request once.")
            return
        got = str(answer.body.get("code", "an error without a code")) if answer.kind == Kind.ERROR else ""
        if got != code:
            what = f"{method} was answered with {got or 'success'}, not with {code or 'success'}."
            yield Fault(what, "Answer what you do not know with protocol.unknown_method; ignore unknown keys (REQ-6).")

    def _answer(self, deadline_s: float) -> Frame | str:
        while True:
            for place, frame in enumerate(self._frames):
                if frame.kind in (Kind.RESPONSE, Kind.ERROR) and frame.id == self._id:
                    del self._frames[: place + 1]
                    return frame
            try:
                data = self._process.receive(deadline_s)
                self._frames += self._reader.feed(data)
            except TimeoutError:
                return "was not answered in time"
            except Violation as violation:
                return f"was answered with what is no frame: {violation.error.message}"
            if not data:
                return "ended the session"
