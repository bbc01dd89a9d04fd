"""RAGAS' own faithfulness over a file of records, all at once. Arguments: the file, the base URL, records at once.

The model is the least that RAGAS can be given: a POST over one pool of connections. No client of a vendor's is as
quick, so that this is RAGAS itself. It prints how many were scored and their mean, as JSON.
"""

# What it imports is in the tool's own environment alone.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, TCPConnector
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.metrics.collections import Faithfulness


class Plain(InstructorBaseRagasLLM):  # type: ignore[misc]  # As above.
    """Posts a prompt, and reads the reply by the class that RAGAS gives."""

    is_async = True

    def __init__(self, session: ClientSession, base_url: str) -> None:
        self._session, self._url = session, f"{base_url}/chat/completions"

    def generate(self, prompt: str, response_model: Any) -> Any:
        raise NotImplementedError

    async def agenerate(self, prompt: str, response_model: Any) -> Any:
        # The vendor of the benchmarks tells by the name of the class what is asked.
        body = {
            "model": "my-judge",
            "messages": [{"role": "user", "content": f"{prompt}\n{response_model.__name__}"}],
        }
        async with self._session.post(self._url, json=body) as reply:
            text = (await reply.json())["choices"][0]["message"]["content"]
        return response_model.model_validate_json(text)


async def main(records: list[dict[str, Any]], base_url: str, at_once: int) -> None:
    """Score every record."""
    turns = asyncio.Semaphore(at_once)
    headers = {"Authorization": "Bearer test-key"}
    async with ClientSession(headers=headers, connector=TCPConnector(limit=0)) as session:
        metric = Faithfulness(llm=Plain(session, base_url))

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
