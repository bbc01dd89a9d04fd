"""Fourth invariant: a pack sees no key of its caller and needs no network; the rest it asks of the kernel."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import evalsi
from evalsi import Record, evaluator
from evalsi.context import Context
from evalsi_kernel.supervision.spawn import PASSED_THROUGH
from tests.cli.pack_folders import write_pack
from tests.cli.running import EVALSI, QA
from tests.cli.running import evalsi as command

BUILT_IN = "exact-match,contains,fuzzy-match,numeric-match,length,latency,bleu,corpus-bleu,chrf,rouge,token-f1"


def test_of_its_callers_variables_a_pack_sees_only_those_that_hold_no_secret(tmp_path: Path) -> None:
    allowed = {*PASSED_THROUGH, "TMPDIR", "PYTHONHASHSEED", "LC_CTYPE", "EVALSI_STARTED_BY", "EVALSI_PROGRESS_FD"}
    write_pack(tmp_path, "acme/spy", "blind", f"return set(os.environ) <= {allowed!r}")
    secrets = {
        "OPENAI_API_KEY": "s",
        "AWS_SECRET_ACCESS_KEY": "s",
        "HTTPS_PROXY": "s",
        "PGPASSWORD": "s",
        "MY_OWN": "s",
    }
    words = ("--data", QA, "--evaluators", "acme/spy/blind", "--format", "json")
    done = command("eval", *words, variables={"EVALSI_PLUGIN_PATH": str(tmp_path), **secrets})
    assert json.loads(done.out)["summaries"][0]["mean"] == 1.0, done.err


def can_be_cut_off() -> bool:
    """Whether this host lets us start a process without a network."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    return subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_be_cut_off(), reason="this host gives no network namespace")
def test_every_built_in_pack_scores_without_a_network() -> None:
    command("eval", "--data", QA, "--evaluators", BUILT_IN)  # Builds the environments where they are not there yet.
    words = ["unshare", "-rn", EVALSI, "eval", "--data", str(QA), "--evaluators", BUILT_IN, "--format", "json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    summaries = json.loads(done.stdout)["summaries"]
    assert [one["errors"] for one in summaries] == [0] * len(summaries)


@pytest.mark.parametrize("capability", ["judge.ask", "embed.ask", "sandbox.run", "blob.get", "blob.put"])
def test_what_a_pack_needs_from_outside_it_asks_of_the_kernel_which_says_what_is_not_bound(capability: str) -> None:
    @evaluator
    async def asks(record: Record, ctx: Context) -> bool:
        await ctx.ask(capability, {})
        return True

    [result] = evalsi.evaluate([{"output": "a"}], [asks], quiet=True).results
    assert result["outcome"] == "error"
    assert result["error"]["code"] == "capability.not_bound"
    assert result["error"]["hint"]
