"""Owns how a results file is named on the command line: by its path, or by the id of a run that was made here.

It must not know what it holds.
"""

from __future__ import annotations

from pathlib import Path

from evalsi_kernel.runs.run_folder import RUNS, all_runs


def results_named(word: str) -> Path:
    """The results file that a word names; a file goes before a run of its name."""
    path = Path(word)
    run = None if path.exists() else next((run for run in all_runs(RUNS) if run.id == word), None)
    return path if run is None else run.results
