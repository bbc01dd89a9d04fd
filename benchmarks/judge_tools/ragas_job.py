"""RAGAS' own faithfulness over a file of records. Arguments: the file, the base URL, records at once.

It prints how many were scored and their mean, as JSON. RAGAS bounds nothing by itself here, so the bound is ours.
"""

# What it imports is in the tool's own environment alone.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI
from ragas.llms.base import llm_factory
from ragas.metrics.collections import Faithfulness


async def main(records: list[dict[str, Any]], base_url: str, at_once: int) -> None:
    """Score every record."""
    metric = Faithfulness(llm=llm_factory("my-judge", client=AsyncOpenAI(base_url=base_url, api_key="test-key")))
    turns = asyncio.Semaphore(at_once)

    async def score(record: dict[str, Any]) -> float:
        async with turns:
            found = await metric.ascore(
                user_input=record["input"], response=record["output"], retrieved_contexts=record["context"]
            )
            return float(found.value)

    values = await asyncio.gather(*map(score, records))
    print(json.dumps({"scored": len(values), "mean": sum(values) / len(values)}))


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
    asyncio.run(main([json.loads(line) for line in lines], sys.argv[2], int(sys.argv[3])))
