"""The same records, by the framework alone and through `evalsi eval`, with the same judge over HTTP: equal scores.

The framework alone runs in the adapter's environment, with the least of a model; nothing of ours is imported there.
That this holds for every metric is tested in the adapters' environments; here is the whole way through the kernel.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evalsi
from tests.cli.running import EVALSI
from tests.providers import KEY, MODEL, Provider, Request

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

BOUND_S = 500.0
TWO = ["The ferry sails at noon.", "Dogs travel free."]
RECORDS: list[dict[str, Any]] = [
    {
        "id": str(number),
        "input": f"What do you know of ferry {number}?",
        "output": f"Ferry {number} sails at noon. Dogs travel free.",
        "reference": f"Ferry {number} sails at noon, and dogs travel free.",
        "context": [f"Ferry {number} sails at noon.", "Dogs travel free."],
    }
    for number in range(6)
]
MODEL_OF = {
    "deepeval": """
from deepeval.models import DeepEvalBaseLLM
class Model(DeepEvalBaseLLM):
    def __init__(self): super().__init__("judge")
    def load_model(self): return self
    def get_model_name(self): return "judge"
    def generate(self, prompt, schema=None): return schema.model_validate(ask(prompt, schema))
    async def a_generate(self, prompt, schema=None): return self.generate(prompt, schema)
from deepeval.test_case import LLMTestCase
import deepeval.metrics
async def score(name, one):
    metric = getattr(deepeval.metrics, name)(model=Model())
    case = LLMTestCase(input=one["input"], actual_output=one["output"], expected_output=one["reference"],
        context=one["context"], retrieval_context=one["context"])
    await metric.a_measure(case, _show_indicator=False)
    return metric.score
""",
    "ragas": """
import sys, types
# RAGAS imports a class of it, which the environment leaves out.
datasets = types.ModuleType("datasets"); datasets.Dataset = type("Dataset", (), {}); sys.modules["datasets"] = datasets
from ragas.llms.base import InstructorBaseRagasLLM
class Model(InstructorBaseRagasLLM):
    is_async = True
    def generate(self, prompt, response_model): return response_model.model_validate(ask(prompt, response_model))
    async def agenerate(self, prompt, response_model): return self.generate(prompt, response_model)
import inspect, ragas.metrics.collections
async def score(name, one):
    metric = getattr(ragas.metrics.collections, name)(llm=Model())
    given = {"user_input": one["input"], "response": one["output"], "reference": one["reference"],
        "retrieved_contexts": one["context"]}
    taken = inspect.signature(metric.ascore).parameters
    return float((await metric.ascore(**{key: value for key, value in given.items() if key in taken})).value)
""",
}
ALONE = """
import asyncio, json, os, sys, urllib.request
url, names, records = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
def ask(prompt, schema):
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema.model_json_schema()}}
    body = {"model": sys.argv[4], "messages": [{"role": "user", "content": prompt}], "response_format": form}
    headers = {"Authorization": "Bearer " + sys.argv[5], "Content-Type": "application/json"}
    asked = urllib.request.Request(url + "/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(asked) as reply:
        return json.loads(json.load(reply)["choices"][0]["message"]["content"])
"""
TELLING = """
found = {name: [asyncio.run(score(name, one)) for one in records] for name in names}
print(json.dumps(found))
"""
METRICS = {
    "deepeval": {
        "faithfulness": "FaithfulnessMetric",
        "answer-relevancy": "AnswerRelevancyMetric",
        "hallucination": "HallucinationMetric",
        "bias": "BiasMetric",
    },
    "ragas": {
        "faithfulness": "Faithfulness",
        "answer-accuracy": "AnswerAccuracy",
        "noise-sensitivity": "NoiseSensitivity",
    },
}


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        folder = tmp_path_factory.mktemp("cache")
        monkeypatch.setenv("EVALSI_CACHE_DIR", str(folder))
        monkeypatch.setenv("JUDGE_KEY", KEY)
        yield folder


def drawn(request: Request) -> dict[str, Any]:
    """An answer by the words of the question alone, so that equal questions get equal answers from both sides."""
    chance = hashlib.sha256(request.last_text.encode()).digest()
    yes = [byte % 2 for byte in chance]
    judged = [{"verdict": ("no", "yes")[flag], "reason": "It is so."} for flag in yes[:2]]
    # No two records lead to the same next question.
    said = [f"{one} ({chance.hex()[:8]})" for one in TWO]
    stated = [{"statement": one, "reason": "It is so.", "verdict": flag} for one, flag in zip(said, yes, strict=False)]
    answers: dict[str, Any] = {
        **dict.fromkeys(("truths", "claims", "opinions"), said),
        "statements": stated if "verdict" in str(request.schema) else said,
        "verdicts": judged,
        "rating": (0, 2, 4)[chance[5] % 3],
        "reason": "It is so.",
    }
    return {name: answers[name] for name in request.schema["properties"]}


def alone(adapter: str, provider: Provider, cache: Path) -> dict[str, list[float]]:
    """What the framework says by itself, by the metric's class."""
    subprocess.run([EVALSI, "plugins", "sync", adapter], check=True, timeout=BOUND_S, stdout=subprocess.DEVNULL)
    stamps = {path.parent: path.read_text("utf-8") for path in (cache / "envs").glob("*/.evalsi-ready")}
    (environment,) = [folder for folder, stamp in stamps.items() if json.loads(stamp)["pack"] == adapter]
    names = list(METRICS[adapter].values())
    code = ALONE + MODEL_OF[adapter] + TELLING
    arguments = [provider.base_url, json.dumps(names), json.dumps(RECORDS), MODEL, KEY]
    quiet = {"RAGAS_DO_NOT_TRACK": "true", "DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_DISABLE_DOTENV": "1"}
    done = subprocess.run(
        [environment / "bin" / "python", "-I", "-c", code, *arguments],
        env={"PATH": os.environ["PATH"], "HOME": str(cache), **quiet},
        cwd=cache,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("adapter", METRICS)
def test_the_scores_of_evalsi_eval_are_those_of_the_framework_alone(adapter: str, own_cache: Path) -> None:
    with Provider(drawn) as provider:
        expected = alone(adapter, provider, own_cache)
        judge = {"model": MODEL, "base_url": provider.base_url, "api_key_env": "JUDGE_KEY"}
        evaluators = [f"{adapter}/{name}" for name in METRICS[adapter]]
        result = evalsi.evaluate(RECORDS, evaluators, judge=judge, quiet=True)
    for name, framework in METRICS[adapter].items():
        ours = {one["record_id"]: one for one in result.results if one["evaluator"].endswith(name)}
        values = [ours[record["id"]]["scores"][0]["value"] for record in RECORDS]
        assert values == pytest.approx(expected[framework], abs=1e-12), name
        # What is the same for all tells nothing.
        assert len(set(values)) > 1, name
