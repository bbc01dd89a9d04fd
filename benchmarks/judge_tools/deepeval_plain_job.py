"""DeepEval's own FaithfulnessMetric over a file of records, all at once. Arguments: file, base URL, records at once.

The model is the least that DeepEval can be given: a POST over one pool of connections. No client of a vendor's is as
quick, so that this is DeepEval itself. It prints how many were scored and their mean, as JSON.
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
from deepeval.metrics import FaithfulnessMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase


class Plain(DeepEvalBaseLLM):  # type: ignore[misc]  # As above.
    """Posts a prompt, and reads the reply by the class that DeepEval gives."""

    def __init__(self, session: ClientSession, base_url: str) -> None:
        super().__init__("my-judge")
        self._session, self._url = session, f"{base_url}/chat/completions"

    def load_model(self) -> Plain:
        return self

    def get_model_name(self) -> str:
        return "my-judge"

    def generate(self, prompt: str, schema: Any = None) -> Any:
        raise NotImplementedError

    async def a_generate(self, prompt: str, schema: Any = None) -> Any:
        body = {"model": "my-judge", "messages": [{"role": "user", "content": prompt}]}
        async with self._session.post(self._url, json=body) as reply:
            text = (await reply.json())["choices"][0]["message"]["content"]
        return schema.model_validate_json(text)


async def main(records: list[dict[str, Any]], base_url: str, at_once: int) -> None:
    """Score every record."""
    turns = asyncio.Semaphore(at_once)
    headers = {"Authorization": "Bearer test-key"}
    async with ClientSession(headers=headers, connector=TCPConnector(limit=0)) as session:
        model = Plain(session, base_url)

        async def score(record: dict[str, Any]) -> float:
            async with turns:
                metric = FaithfulnessMetric(model=model)
                case = LLMTestCase(
                    input=record["input"], actual_output=record["output"], retrieval_context=record["context"]
                )
                await metric.a_measure(case, _show_indicator=False)
                return float(metric.score)

        values = await asyncio.gather(*map(score, records))
    print(json.dumps({"scored": len(values), "mean": sum(values) / len(values)}))


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
    asyncio.run(main([json.loads(line) for line in lines], sys.argv[2], int(sys.argv[3])))
