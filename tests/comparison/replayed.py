"""A spec whose target replays recorded answers, so that `evalsi run` makes real results files offline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.cli.running import write_jsonl

CAPITALS = {"Kenya": "Nairobi", "Oman": "Muscat", "Peru": "Lima", "Portugal": "Lisbon"}


def replayed_spec(folder: Path, answers: Mapping[str, str], *, least: float, trials: int) -> Path:
    """Write the spec of a run named `capitals` that gates `exact-match`, with its data; returns its path."""
    write_jsonl(
        folder / "questions.jsonl",
        [
            {"id": land, "input": f"What is the capital of {land}?", "reference": city}
            for land, city in CAPITALS.items()
        ],
    )
    write_jsonl(folder / "recorded.jsonl", [{"id": land, "output": city} for land, city in answers.items()])
    spec = folder / "run.yaml"
    spec.write_text(
        "metadata: {name: capitals}\n"
        "spec:\n"
        "  target: {connector: replay, path: recorded.jsonl}\n"
        "  dataset: {path: questions.jsonl}\n"
        "  evaluators: [{ref: exact-match}]\n"
        f"  trials: {trials}\n"
        f"  gates: [{{metric: exact-match, min: {least}}}]\n",
        encoding="utf-8",
    )
    return spec
