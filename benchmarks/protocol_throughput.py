"""How many records a second a no-op pack takes, and how that compares with calling the same evaluators in-process.

Run: `python benchmarks/protocol_throughput.py`. One process beside this one serves the SDK's host loop over pipes; this
one drives the same session machine as the kernel does. It prints JSON; the ratio is of one run, so that the speed of
the machine drops out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from evalsi.loading import from_file
from evalsi.opened import open_evaluator
from evalsi.record import Record
from evalsi_protocol.channels import FdChannel
from evalsi_protocol.errors import ProtocolError
from evalsi_protocol.frames import Packed, pack, pack_array, pack_map
from evalsi_protocol.greeting import kernel_hello
from evalsi_protocol.limits import TARGET_FRAME_BYTES
from evalsi_protocol.machine import ErrorReceived, EventReceived, Machine, ResponseReceived, SessionEnded

RECORD_BYTES = 1000
PACK = """
from evalsi import evaluator

@evaluator(name="noop-{number}", version=1, needs=("output",))
def noop_{number}(record):
    return True
"""


def records(count: int) -> list[dict[str, Any]]:
    """Records of about 1 kB each on the wire."""
    filling = "The quick brown fox jumps over the lazy dog. " * 10
    return [
        {"id": f"record-{number}", "input": filling, "output": filling, "reference": f"answer {number}"}
        for number in range(count)
    ]


def batches(encoded: list[bytes]) -> list[Packed]:
    """Arrays of records, each about as large as the kernel makes them."""
    size = max(1, TARGET_FRAME_BYTES // len(encoded[0]))
    return [pack_array(encoded[start : start + size], size) for start in range(0, len(encoded) - size + 1, size)]


class Pair:
    """A pack process, and this process as its kernel, with blocking reads."""

    def __init__(self, argv: list[str]) -> None:
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.channel = FdChannel(self.process.stdout.fileno(), self.process.stdin.fileno())
        self.machine = Machine("kernel")
        self.items = 0

    def ask(self, method: str, body: Any) -> None:
        """Ask and wait for the answer."""
        self.machine.request(method, body)
        while self.machine.open_requests:
            self.turn()

    def turn(self) -> int:
        """Send what is there, read once; returns how many requests were answered."""
        self.channel.write(self.machine.data_to_send())
        answered = 0
        for event in self.machine.receive(self.channel.read()):
            if isinstance(event, EventReceived):
                self.items += len(event.body.get("items", ()))
            elif isinstance(event, ResponseReceived):
                answered += 1
            elif isinstance(event, (ErrorReceived, SessionEnded)) and event.error is not None:
                raise ProtocolError(event.error)
        return answered

    def score(self, sessions: list[int], arrays: Iterator[Packed]) -> None:
        """Keep the window full until all is answered."""
        for array in arrays:
            while not self.machine.can_request:
                self.turn()
            self.machine.request("score", pack_map({"sessions": sessions, "records": array}))
        while self.machine.open_requests:
            self.turn()

    def close(self) -> None:
        """Say goodbye."""
        self.ask("bye", {})
        self.process.communicate(timeout=10)


def seconds(work: Callable[[], object]) -> float:
    """How long a piece of work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(
    file: Path, evaluators: int, wires: list[dict[str, Any]], encoded: list[bytes], runs: int
) -> dict[str, Any]:
    """One row: the same records through the process pair and through plain calls, in turns."""
    names = [f"noop-{number}" for number in range(evaluators)]
    loaded = from_file(file)
    opened = [open_evaluator(loaded[name], {}) for name in names]
    arrays = batches(encoded)
    pair = Pair([sys.executable, "-m", "evalsi.serving", "--file", str(file)])
    pair.ask("hello", kernel_hello("benchmark", "0", []))
    for session, name in enumerate(names, 1):
        pair.ask("open", {"session": session, "evaluator": name, "params": {}})
    sessions = list(range(1, evaluators + 1))

    def in_process() -> None:
        for wire in wires:
            record = Record.from_wire(wire)
            for one in opened:
                one.check_needs(record)
                one.score(record)

    pair.score(sessions, iter(arrays[: len(arrays) // 10 + 1]))  # Warm.
    pair.items = 0
    over_pipes, called = [], []
    for _ in range(runs):
        over_pipes.append(seconds(lambda: pair.score(sessions, iter(arrays))))
        called.append(seconds(in_process))
    scored = pair.items // runs // evaluators
    pair.close()
    return {
        "evaluators": evaluators,
        "records": scored,
        "record_bytes": len(encoded[0]),
        "records_per_s": round(scored / median(over_pipes)),
        "in_process_records_per_s": round(len(wires) / median(called)),
        "ratio_to_in_process": round((median(over_pipes) / scored) / (median(called) / len(wires)), 2),
    }


def main() -> None:
    """Print the table as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    wires = records(options.records)
    encoded = [pack(wire) for wire in wires]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "noop_pack.py"
        file.write_text("".join(PACK.format(number=number) for number in range(5)))
        rows = [measure(file, evaluators, wires, encoded, options.runs) for evaluators in (1, 5)]
    print(json.dumps({"benchmark": "protocol_throughput", "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
