"""DeepEval's own FaithfulnessMetric, asynchronous, over a file of records. Arguments: file, base URL, records at once.

It prints how many were scored and their mean, as JSON. Of each record two questions are asked at the same time. By
itself DeepEval opens an HTTP client, with its certificates, for each call; with 64 records at once its connections then
time out. So it gets one client for all here.
"""

# What it imports is in the tool's own environment alone.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import json
import sys
from pathlib import Path

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import FaithfulnessMetric
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase
from openai import DefaultAsyncHttpxClient


def main(data: str, base_url: str, at_once: int) -> None:
    """Score every record."""
    records = [json.loads(line) for line in Path(data).read_text("utf-8").splitlines()]
    cases = [
        LLMTestCase(input=one["input"], actual_output=one["output"], retrieval_context=one["context"])
        for one in records
    ]
    model = LocalModel(model="my-judge", base_url=base_url, api_key="test-key")
    # Not as an argument: a first client, made at once, is a blocking one.
    model.kwargs["http_client"] = DefaultAsyncHttpxClient()
    found = evaluate(
        cases,
        [FaithfulnessMetric(model=model)],
        async_config=AsyncConfig(max_concurrent=at_once),
        display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
        cache_config=CacheConfig(write_cache=False),
    )
    values = [one.score for case in found.test_results for one in case.metrics_data if one.score is not None]
    print(json.dumps({"scored": len(values), "mean": sum(values) / len(values)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
