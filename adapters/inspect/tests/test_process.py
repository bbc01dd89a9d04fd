"""What the pack's process does: many records at once, the judge asked through the session, and no socket of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import evalsi_inspect
from evalsi import Record
from evalsi.testing import Bench

TESTS = Path(__file__).parent
NO_SOCKET = """
import os, sys
opened = []
sys.addaudithook(lambda event, args: opened.append((event, str(args))) if event in (
    "socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto") else None)
import evalsi_inspect
from adapters.inspect.tests.cases import DETERMINISTIC, GRADED, evaluator, reply_to
from evalsi.testing import Bench
from evalsi_inspect.reading import rows
from pathlib import Path
bench = Bench(judge=lambda question: reply_to(question.messages[-1]["content"]))
cases = DETERMINISTIC + GRADED
kinds = {case.name: bench.score(evaluator(case.name), case.record, **case.params).kind for case in cases}
assert set(kinds) == {one.row.name for one in evalsi_inspect.EVALUATORS}
assert len(list(rows(Path(sys.argv[1])))) == 3
print(opened, set(kinds.values()))
"""


def test_a_process_that_scores_with_every_scorer_and_reads_opens_no_socket() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_SOCKET, str(TESTS / "logs/agent.eval")],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        env={**os.environ, "PYTHONPATH": str(TESTS.parents[2])},
    )
    assert (done.stdout.strip(), done.returncode) == ("[] {'scored'}", 0), done.stderr


def test_it_travels_through_a_session() -> None:
    records = [Record(id=str(number), input="?", output=f"it is {number}", reference="it is 3") for number in range(40)]
    bench = Bench(
        judge=lambda question: (
            "GRADE: C" if "[Submission]: it is 3\n" in question.messages[0]["content"] else "GRADE: I"
        )
    )
    outcomes = bench.run_pack(evalsi_inspect, "model-graded-qa", records, timeout_s=100).outcomes
    assert [outcome.passed for outcome in outcomes] == [number == 3 for number in range(40)]
    outcomes = bench.run_pack(evalsi_inspect, "match", records, timeout_s=100).outcomes
    assert [outcome.passed for outcome in outcomes] == [number == 3 for number in range(40)]
