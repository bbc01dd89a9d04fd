"""Specs written and run as a user does, against our own vendor."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.broker.settings import BrokerSettings
from evalsi_kernel.extensions.installed import Extensions, default_extensions
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.request import NOBODY, Listener
from evalsi_kernel.runs.event_log import EventLog
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.runs.request import RunEnd, RunRequest
from evalsi_kernel.runs.run import execute
from evalsi_runs.spec_file import read_spec, run_name
from tests.cli.running import EVALSI, Done, evalsi, write_jsonl
from tests.providers import KEY, MODEL, Provider

MODEL_KEY = "TARGET_KEY"


def records(count: int) -> list[dict[str, Any]]:
    """Questions that are told apart by their number; every other one is answered with Lisbon."""
    return [
        {"id": f"r{number}", "question": f"Question {number}?", "answer": "Lisbon" if number % 2 else "Oslo"}
        for number in range(count)
    ]


def write_spec(folder: Path, target: Mapping[str, Any], rows: Iterable[Any] = (), **spec: Any) -> Path:
    """A spec beside its data; returns its path. JSON is YAML."""
    rows = list(rows) or records(4)
    write_jsonl(folder / "qa.jsonl", rows)
    document = {
        "metadata": {"name": "run"},
        "spec": {
            "target": dict(target),
            "dataset": {"path": "qa.jsonl", "mapping": {"input": "question", "reference": "answer"}},
            "evaluators": [{"ref": "exact-match"}],
            **spec,
        },
    }
    path = folder / "run.yaml"
    path.write_text(json.dumps(document))
    return path


def model_of(provider: Provider, **options: Any) -> dict[str, Any]:
    """The vendor as a target."""
    return {
        "connector": "openai-compatible",
        "model": MODEL,
        "base_url": provider.base_url,
        "api_key_env": MODEL_KEY,
        "max_tokens": 64,
        **options,
    }


def run(folder: Path, *words: str, spec: str = "run.yaml", variables: dict[str, str] | None = None) -> Done:
    """`evalsi run` in a folder."""
    return evalsi("run", "-f", spec, *words, cwd=folder, variables={MODEL_KEY: KEY} | (variables or {}))


def start(folder: Path, *words: str, spec: str = "run.yaml") -> subprocess.Popen[bytes]:
    """`evalsi run` as a process that goes on; whoever starts it ends it."""
    return subprocess.Popen(
        [EVALSI, "run", "-f", spec, "--quiet", *words],
        cwd=folder,
        env=os.environ | {MODEL_KEY: KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def executed(
    folder: Path,
    *,
    models: BrokerSettings | None = None,
    fresh: bool = False,
    retry_errors: bool = False,
    listener: Listener = NOBODY,
    without: str = "",
) -> RunEnd:
    """A run of the folder's spec in this process, for what is no matter of the command line; without one extension."""
    extensions, path = Extensions(one for one in default_extensions().infos if one.name != without), folder / "run.yaml"
    document = read_spec(path, extensions)
    request = RunRequest(
        document,
        run_name(document, path),
        folder,
        runs=folder / ".evalsi" / "runs",
        models=models,
        fresh=fresh,
        retry_errors=retry_errors,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MODEL_KEY, KEY)
        return execute(request, default_catalog(), extensions, listener=listener)


def results(folder: Path, run_id: str = "run-1") -> dict[str, Any]:
    """The results file of a run."""
    value: dict[str, Any] = json.loads((folder / ".evalsi" / "runs" / run_id / "results.json").read_text())
    return value


def logged(folder: Path, items: int, run_id: str = "run-1") -> Progress:
    """What a run's log holds."""
    return Progress(EventLog(folder / ".evalsi" / "runs" / run_id / "events"), items)


def outcomes(value: Mapping[str, Any]) -> list[Any]:
    """What a results file says of each record, but for how long it took."""
    return [
        {key: one[key] for key in ("record_id", "trial", "evaluator", "outcome", "scores") if key in one}
        for one in value["results"]
        if one["evaluator"] != "latency"
    ]
