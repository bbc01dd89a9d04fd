"""The harness' exact_match behind a filter: alone, and through the adapter."""

# What it imports is in the adapter's environment alone.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

from benchmarks.adapter_tools.timing import RECORDS, scored, tell
from evalsi import Record
from evalsi.testing import run_pack
from evalsi_lm_eval.harness import harness

PATTERN = r"is (\w+)"
PARAMS = {"filters": [{"function": "regex", "regex_pattern": PATTERN}], "ignore_case": True}


def alone() -> None:
    """Record by record, as the harness' tasks do."""
    chosen = harness().filters["regex"](regex_pattern=PATTERN)
    for _ in range(RECORDS):
        ((text,),) = chosen.apply([["It is Paris."]], [{}])
        harness().metrics["exact_match"](predictions=[text], references=["Paris"], ignore_case=True)


def ours() -> None:
    """Through the adapter."""
    records = [Record(id=str(number), output="It is Paris.", reference="Paris") for number in range(RECORDS)]
    scored(run_pack("evalsi_lm_eval", "exact-match", records, PARAMS, timeout_s=300))


if __name__ == "__main__":
    tell("lm-eval/exact-match", alone, ours)
