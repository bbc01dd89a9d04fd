"""What the pack's process does: it opens no socket, and what it imports of the harness is what scoring takes."""

from __future__ import annotations

import subprocess
import sys

SCORES = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append((event, str(args))) if event in (
    "socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto") else None)
from evalsi import Record
from evalsi.testing import run_pack
from evalsi_lm_eval import EVALUATORS
from evalsi_lm_eval.metrics import METRICS
text = Record(output="It is 4", reference="4", metadata={"doc": {"question": "?", "answer": "#### 4"}})
likely = {"choices": ["a", "b"], "loglikelihoods": [-1.0, -2.0, -1.5, -1.5]}
choice = Record(reference="a", metadata={**likely, "loglikelihoods": likely["loglikelihoods"][:2]})
gain = Record(reference="a", metadata=likely)
document = Record(reference="a b", metadata={"loglikelihoods": [-3.0]})
number = {"function": "regex", "regex_pattern": "([0-9]+)"}
params = {"exact-match": {"filters": [number]}, "task": {"task": "gsm8k"}, "corpus-task": {"task": "gsm8k"}}
of = {"choice": choice, "continuation": document, "document": document}
records = {row.evaluator: of.get(row.of, text) for row in METRICS if row.of} | {"task": text, "corpus-task": text}
records["acc-mutual-info"] = gain
assert set(records) == {one.__evalsi__.name for one in EVALUATORS}
for name, record in records.items():
    run = run_pack("evalsi_lm_eval", name, [record], params.get(name, {}))
    assert run.outcomes[0].kind in ("scored", "state"), (name, run.outcomes)
print(opened, {"torch", "transformers", "pandas", "pyarrow"} & sys.modules.keys())
"""


def test_a_process_that_scores_with_every_evaluator_opens_no_socket_and_loads_no_framework_of_models() -> None:
    done = subprocess.run([sys.executable, "-c", SCORES], capture_output=True, text=True, timeout=110, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[] set()", 0), done.stderr
