"""DeepEval's faithfulness, with its four questions a record, and g-eval: alone, and through the adapter."""

# What it imports is in the adapter's environment alone.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

from typing import Any

from adapters.deepeval.tests.material import PARAMS, RECORD, arguments_for, case_for
from adapters.deepeval.tests.scripted import ScriptedModel, judge
from deepeval.metrics import FaithfulnessMetric, GEval

from benchmarks.adapter_tools.timing import RECORDS, scored, tell, together
from evalsi import Record
from evalsi.testing import Bench

METRICS: dict[str, Any] = {"faithfulness": FaithfulnessMetric, "g-eval": GEval}


def compare(name: str) -> None:
    """One metric, both ways."""
    records = [Record.from_wire({**RECORD.wire, "id": str(number)}) for number in range(RECORDS)]

    async def measure() -> None:
        made = METRICS[name](**arguments_for(name, ScriptedModel()))
        await made.a_measure(case_for(name, "single"), _show_indicator=False)

    def ours() -> None:
        scored(Bench(judge=judge).run_pack("evalsi_deepeval", name, records, PARAMS.get(name, {}), timeout_s=300))

    tell(f"deepeval/{name}", lambda: together(measure), ours)


if __name__ == "__main__":
    for one in METRICS:
        compare(one)
