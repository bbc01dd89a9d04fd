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
text = Record(output="It is 4", reference="4", metadata={"doc": {"question": "?", "answer": "#### 4"}})
choice = Record(reference="a", metadata={"choices": ["a", "b"], "loglikelihoods": [-1.0, -2.0]})
number = {"function": "regex", "regex_pattern": "([0-9]+)"}
for name, record, params in (
    ("exact-match", text, {"filters": [number]}),
    ("bleu", text, {}),
    ("acc-norm", choice, {}),
    ("mcc", choice, {}),
    ("task", text, {"task": "gsm8k"}),
):
    assert run_pack("evalsi_lm_eval", name, [record], params).outcomes[0].kind in ("scored", "state"), name
print(opened, {"torch", "transformers", "pandas", "pyarrow"} & sys.modules.keys())
"""


def test_a_process_that_scores_opens_no_socket_and_loads_no_framework_of_models() -> None:
    done = subprocess.run([sys.executable, "-c", SCORES], capture_output=True, text=True, timeout=110, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[] set()", 0), done.stderr
