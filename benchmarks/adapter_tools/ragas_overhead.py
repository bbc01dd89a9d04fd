"""RAGAS' faithfulness, with its two questions a record, and its BLEU without any: alone, and through the adapter."""

# What it imports is in the adapter's environment alone.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

# Before RAGAS itself, whose imports it readies.
import evalsi_ragas.scoring  # isort: skip
from adapters.ragas.tests.alone import ALONE, Row
from adapters.ragas.tests.scripted import judge, record, vector

from benchmarks.adapter_tools.timing import RECORDS, scored, tell, together
from evalsi import Record
from evalsi.testing import Bench

NAMES = ("faithfulness", "bleu-score")


def compare(name: str) -> None:
    """One metric, both ways."""
    row = Row(record(1))
    records = [Record.from_wire({**record(1).wire, "id": str(number)}) for number in range(RECORDS)]

    async def measure() -> None:
        await ALONE[name](row)

    def ours() -> None:
        scored(Bench(judge=judge, embed=vector).run_pack(evalsi_ragas, name, records, timeout_s=300))

    tell(f"ragas/{name}", lambda: together(measure), ours)


if __name__ == "__main__":
    for one in NAMES:
        compare(one)
