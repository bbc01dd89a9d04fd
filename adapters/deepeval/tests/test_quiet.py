"""The pack's process: no socket, no file, no key, no telemetry; and quick until a session opens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
PROBE = """
import json, os, sys
seen = []  # A library that DeepEval imports asks the system for IPv6 by a bind to no port, which reaches nobody.
WATCHED = ("socket.connect", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen", "os.system")
def watch(event, arguments):
    if event in WATCHED:
        seen.append(event)
    elif event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        seen.append(f"open {arguments[0]}")
    elif event in ("os.mkdir", "os.rename"):
        seen.append(f"{event} {arguments[0]}")
sys.addaudithook(watch)
import evalsi_deepeval
early = "deepeval" in sys.modules
# As the first session does; the material below imports DeepEval before one opens.
from evalsi_deepeval.stand_ins import put_in_place
put_in_place()
from adapters.deepeval.tests.material import PARAMS, RECORD, TALK
from adapters.deepeval.tests.scripted import judge
from evalsi.testing import Bench
from evalsi_deepeval.conversation_metrics import METRICS
kinds = set()
for metric, evaluator in zip(METRICS, evalsi_deepeval.EVALUATORS):
    record = TALK if metric.shape == "conversation" else RECORD
    kinds.add(Bench(judge=judge).score(evaluator, record, **PARAMS.get(metric.name, {})).kind)
from deepeval.telemetry import telemetry_opt_out
found = {"seen": seen, "early": early, "kinds": sorted(kinds), "silent": telemetry_opt_out()}
real = [one for one in ("openai", "aiohttp", "requests") if getattr(sys.modules.get(one), "__file__", None)]
found["real"] = real
found["key"] = os.environ.get("OPENAI_API_KEY", "")
print(json.dumps(found))
"""


def probed(folder: Path, **environment: str) -> dict[str, Any]:
    """What a process saw that scores every metric in a folder of its own."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROBE],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_all_metrics_are_scored_without_a_socket_a_process_or_a_file(tmp_path: Path) -> None:
    found = probed(tmp_path)
    assert found["seen"] == []
    assert found["kinds"] == ["scored"]
    assert found["silent"] is True
    # C6: clients of models take a third of the start, and no metric needs them.
    assert found["real"] == []
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_lies_about_turns_deepeval_to_a_service_or_brings_a_key(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-planted\nDEEPEVAL_EVAL_MODE=hybrid\n")
    (tmp_path / ".deepeval").mkdir()
    (tmp_path / ".deepeval/.deepeval").write_text('{"OPENAI_API_KEY": "sk-planted", "USE_OPENAI_MODEL": "YES"}')
    found = probed(tmp_path, DEEPEVAL_TELEMETRY_OPT_OUT="0", DEEPEVAL_EVAL_MODE="system_one", CONFIDENT_API_KEY="x")
    assert (found["seen"], found["kinds"], found["silent"], found["key"]) == ([], ["scored"], True, "")


def test_deepeval_is_not_imported_with_the_package(tmp_path: Path) -> None:
    assert probed(tmp_path)["early"] is False
