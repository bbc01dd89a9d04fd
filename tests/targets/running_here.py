"""A spec run to its end within the test's own process, as `evalsi run` does it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.runs.request import RunEnd, RunRequest
from evalsi_kernel.runs.run import execute
from evalsi_runs.spec_file import read_spec, run_name


def run_here(path: Path) -> tuple[RunEnd, dict[str, Any]]:
    """How a run ended, and its results."""
    extensions = default_extensions()
    document = read_spec(path, extensions)
    request = RunRequest(document, run_name(document, path), path.parent, runs=path.parent / "runs", processes=1)
    end = execute(request, default_catalog(), extensions)
    return end, json.loads(end.results.read_text("utf-8"))


def outcomes(results: dict[str, Any]) -> list[str]:
    """What became of each record, in their order: `scored`, or the code of its error."""
    return [one["error"]["code"] if one["outcome"] == "error" else one["outcome"] for one in results["results"]]
