"""The harness by itself, with a model of made-up answers: what the evaluators must agree with.

Its evaluation imports libraries for logs and hubs that scoring never uses and the lock leaves out; stand-ins serve.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from evalsi import Record
from evalsi_lm_eval.harness import harness

UNUSED = ("datasets.utils", "datasets.utils.metadata", "huggingface_hub", "huggingface_hub.utils", "pandas")
DOCS = [
    {"q": "2+2?", "a": "4", "many": ["4", "four"], "choices": ["3", "4", "five hundred"], "gold": 1},
    {"q": "Where?", "a": "in Ljubljana", "many": ["there"], "choices": ["Maribor", "Čatež", "Kp"], "gold": 2},
    {"q": "3*3?", "a": "9", "many": ["9", "nine"], "choices": ["ninety", "6", "9"], "gold": 0},
    {"q": "Why not?", "a": "it is so because it is", "many": ["so"], "choices": ["a", "bb", "c"], "gold": 0},
    {"q": "Who?", "a": "Nobody.", "many": ["nobody"], "choices": ["x", "yy", "z"], "gold": 1},
]  # fmt: skip
ANSWERS = [
    "The answer is 4.",
    "In Ljubljana",
    "nine",
    "it is so because it was",
    "  Nobody.  ",
    "(B)",
    "the answer is  9",
]


def unit(*given: Any) -> float:
    """A number from 0 to 1 that looks like chance and is none."""
    return int(hashlib.sha256(repr(given).encode()).hexdigest()[:8], 16) / 2**32


class Alone(NamedTuple):
    """What the harness alone said: its figures by metric and filter, and its samples."""

    figures: dict[str, float]
    samples: list[dict[str, Any]]

    def records(self, **more: Any) -> list[Record]:
        """What was recorded of each doc, once."""
        first = self.samples[0]["filter"]
        return [_record(sample, more) for sample in self.samples if sample["filter"] == first]


def _record(sample: dict[str, Any], more: Mapping[str, Any]) -> Record:
    responses = [response[0] for response in sample["resps"]]
    metadata: dict[str, Any] = {"doc": sample["doc"], "doc_id": sample["doc_id"]}
    output = None
    if isinstance(responses[0], str):
        output, metadata["responses"] = responses[0], sample["resps"][0]
    else:
        metadata["loglikelihoods"] = [list(one) if isinstance(one, tuple) else one for one in responses]
    if "choices" in more:
        metadata |= {
            "choices": sample["doc"][more["choices"]],
            "gold": sample["doc"]["gold"] % len(sample["doc"][more["choices"]]),
        }
    reference = sample["doc"][more["reference"]] if "reference" in more else None
    return Record(id=str(sample["doc_id"]), output=output, reference=reference, metadata=metadata)


@pytest.fixture(scope="session")
def stood_in() -> None:
    harness()
    for name in UNUSED:
        module = ModuleType(name)
        module.__getattr__ = lambda attribute: type(attribute, (), {})  # type: ignore[method-assign]
        sys.modules.setdefault(name, module)


class _Docs(list[dict[str, Any]]):
    @property
    def features(self) -> dict[str, Any]:
        return self[0]


@pytest.fixture(scope="session")
def alone(stood_in: None) -> Callable[..., Alone]:
    """Runs a task of some docs by the harness alone."""
    from lm_eval.api.model import LM
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.evaluator import evaluate

    class Scripted(LM):  # type: ignore[misc]
        def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
            return [(-9 * unit(one.args), unit(one.args, 1) > 0.5) for one in requests]

        def loglikelihood_rolling(self, requests: Sequence[Any]) -> list[float]:
            return [-30 * unit(one.args) for one in requests]

        def generate_until(self, requests: Sequence[Any]) -> list[str]:
            return [ANSWERS[place % len(ANSWERS)] for place, _ in enumerate(requests)]

    def run(docs: Sequence[dict[str, Any]] = DOCS, **config: Any) -> Alone:
        dataset = {"test": _Docs(json.loads(json.dumps(docs)))}
        whole = {
            "task": "local",
            "doc_to_text": "q",
            "test_split": "test",
            "custom_dataset": lambda **_: dataset,
        } | config
        found = evaluate(Scripted(), {"tasks": {"local": ConfigurableTask(config=whole)}}, bootstrap_iters=0)
        figures = {
            name.replace(",none", "").replace(",", "-"): value
            for name, value in found["results"]["local"].items()
            if isinstance(value, int | float) and "_stderr" not in name and name != "sample_len"
        }
        return Alone(figures, found["samples"]["local"])

    return run


@pytest.fixture
def task_file(tmp_path: Path) -> Callable[[str], str]:
    """Writes a task's YAML, and returns its path."""

    def write(text: str) -> str:
        path = tmp_path / "local.yaml"
        path.write_text(text, "utf-8")
        return str(path)

    return write
