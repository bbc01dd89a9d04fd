"""What the pack's process does: many records at once, the judge asked through the session, and no socket of its own."""

from __future__ import annotations

import subprocess
import sys

import evalsi_inspect
from evalsi import Record
from evalsi.testing import Bench

NO_SOCKET = """
import os, sys
opened = []
sys.addaudithook(lambda event, args: opened.append((event, str(args))) if event in (
    "socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto") else None)
import evalsi_inspect
from evalsi import Record
from evalsi.testing import Bench
from evalsi_inspect.reading import rows
from pathlib import Path
record = Record(input="?", output="Paris", reference="Paris")
for name in ("match", "f1", "model-graded-qa"):
    (one,) = [one for one in evalsi_inspect.EVALUATORS if one.row.name == name]
    assert Bench(judge=["GRADE: C"]).score(one, record).value == 1.0
assert len(list(rows(Path(sys.argv[1])))) == 3
print(opened)
"""


def test_a_process_that_scores_and_reads_opens_no_socket() -> None:
    log = str(evalsi_inspect.__path__[0]) + "/../../tests/logs/agent.eval"
    done = subprocess.run(
        [sys.executable, "-c", NO_SOCKET, log], capture_output=True, text=True, timeout=110, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


def test_it_travels_through_a_session() -> None:
    records = [Record(id=str(number), input="?", output=f"it is {number}", reference="it is 3") for number in range(40)]
    bench = Bench(
        judge=lambda question: (
            "GRADE: C" if "[Submission]: it is 3\n" in question.messages[0]["content"] else "GRADE: I"
        )
    )
    outcomes = bench.run_pack(evalsi_inspect, "model-graded-qa", records, timeout_s=100).outcomes
    assert [outcome.value for outcome in outcomes] == [float(number == 3) for number in range(40)]
    outcomes = bench.run_pack(evalsi_inspect, "match", records, timeout_s=100).outcomes
    assert [outcome.value for outcome in outcomes] == [float(number == 3) for number in range(40)]
