"""What a process of the pack does beside scoring: it opens no socket, writes no file, and greets before RAGAS loads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalsi_ragas.table import ROWS

TESTS = Path(__file__).parent
WATCHED = """
import json, sys
seen = []
def hook(event, args):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto"):
        seen.append([event, str(args[1:])])
    elif event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+") and args[0] != "/dev/null":
        seen.append([event, str(args[0])])
    elif event in ("os.mkdir", "subprocess.Popen"):
        seen.append([event, str(args[0])])
sys.addaudithook(hook)
import evalsi_ragas
from adapters.ragas.tests.scripted import PARAMS, RECORDS, judge, vector
from evalsi.testing import Bench
kinds = {}
for one in evalsi_ragas.EVALUATORS:
    name = one.__evalsi__.name
    run = Bench(judge=judge, embed=vector).run_pack("evalsi_ragas", name, RECORDS[:1], PARAMS.get(name, {}))
    kinds[name] = run.outcomes[0].kind
import ragas._analytics
real = [one for one in ("openai", "langsmith", "requests") if getattr(sys.modules.get(one), "__file__", None)]
print(json.dumps({"seen": seen, "kinds": kinds, "real": real, "reports": ragas._analytics._analytics_batcher._running}))
"""


def ran(code: str, tmp_path: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        cwd=tmp_path,
        env={
            "PYTHONPATH": str(TESTS.parents[2]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(tmp_path),
            # A key that lies about is not for this process; RAGAS would take its absence of one as it comes.
            "RAGAS_DO_NOT_TRACK": "1",
        },
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_scoring_with_every_evaluator_opens_no_socket_starts_nothing_and_writes_no_file(tmp_path: Path) -> None:
    told = ran(WATCHED, tmp_path)
    assert set(told["kinds"].values()) == {"scored"}
    assert len(told["kinds"]) == len(ROWS)
    assert told["seen"] == []
    assert told["reports"] is False
    # C6: clients of models take more than half of the start, and no evaluator needs them.
    assert told["real"] == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["ragas", "langchain_core", "openai", "pydantic", "numpy"])
def test_the_greeting_waits_for_nothing_of_ragas(module: str, tmp_path: Path) -> None:
    code = f"import json, sys, evalsi_ragas; print(json.dumps({module!r} in sys.modules))"
    assert ran(code, tmp_path) is False


def test_the_word_that_keeps_ragas_from_reporting_is_true_whatever_the_caller_set(tmp_path: Path) -> None:
    code = "import json, os, evalsi_ragas; print(json.dumps(os.environ['RAGAS_DO_NOT_TRACK']))"
    assert ran(code, tmp_path) == "true"
    code = "import json, evalsi_ragas.scoring, ragas._analytics as a; print(json.dumps(a.do_not_track()))"
    assert ran(code, tmp_path) is True
