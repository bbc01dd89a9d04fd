"""A relative path in an address begins at the folder of the spec that holds it, wherever the command is typed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from evalsi_kernel.extensions.hook_calls import open_source
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.records.sources import readable_chunks
from tests.cli.running import evalsi

ROW = b'{"id": "a", "input": "x", "output": "x", "reference": "x"}\n'
PINNED = f"snapshot://data/qa.jsonl?sha256={hashlib.sha256(ROW).hexdigest()}"


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A folder that is not the working one, with data in all forms."""
    data = tmp_path / "specs" / "data"
    data.mkdir(parents=True)
    (data / "qa.jsonl").write_bytes(ROW)
    (data / "log.eval").write_bytes(b"PK")
    (data / "samples_qa.jsonl").write_bytes(b"{}\n")
    return data.parent


@pytest.mark.parametrize(
    "uri", ["data/qa.jsonl", PINNED, "inspect://data/log.eval", "data/log.eval", "lm-eval://data/samples_qa.jsonl"]
)
def test_every_kind_of_address_is_found_from_there(uri: str, specs: Path) -> None:
    assert open_source(uri, default_extensions(), specs) is not None


def test_a_dataset_folder_is_found_from_there(specs: Path) -> None:
    (specs / "hub").mkdir()
    (specs / "hub" / "train.jsonl").write_bytes(ROW)
    (rows,) = readable_chunks(open_source("hf://./hub?split=train", default_extensions(), specs))
    assert rows[0][1]["id"] == "a"


def test_a_run_reads_the_data_of_its_spec_from_another_folder(specs: Path, tmp_path: Path) -> None:
    spec = {
        "target": {"connector": "replay", "path": "data/qa.jsonl"},
        "dataset": {"uri": PINNED},
        "evaluators": [{"ref": "exact-match"}],
        "gates": [{"metric": "exact-match", "min": 1.0, "stat": "mean"}],
    }
    (specs / "run.yaml").write_text(json.dumps({"metadata": {"name": "pinned"}, "spec": spec}))
    done = evalsi("run", "-f", "specs/run.yaml", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "1 done" in done.out
