"""A new Wasm pack in each language is built, tested, checked, released and used as its page says.

It gives what the new pack in Python gives, record by record. Needs the languages' own tools, and a package index.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evalsi import Record
from evalsi.testing import score
from evalsi_provisioning import new_pack_files
from evalsi_provisioning.authoring import LANGUAGES
from tests.cli.running import EVALSI, write_jsonl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

BOUND_S = 400.0
TARGET = "wasm32-unknown-unknown"
CONFORMS = "conforms: loads, behaves, trustworthy"
COMMAND = re.compile(r"^ {4}(?P<words>\S.*?)(?: +# .*)?$", re.MULTILINE)
# Letters of several scripts, ends of sentences and of lines, and white space of every width. The four control
# characters that only Python takes for white space are not among them.
ALPHABET = "aaabbÉß猫犬𝔘\u0301\u200d\ufeff.!?;。！:  \t\n\r\v\f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\0"
ENDS = (".!?", ";。", "a", "猫\u3000")
RECORDS = 150


@cache
def rust_folder() -> str | None:
    """The first folder on the PATH whose Rust has the target; None where none has."""
    for folder in os.environ["PATH"].split(os.pathsep):
        compiler = shutil.which("rustc", path=folder)
        if compiler and shutil.which("cargo", path=folder):
            words = [compiler, "--print", "target-libdir", "--target", TARGET]
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
            if done.returncode == 0 and any(Path(done.stdout.strip()).glob("libcore-*")):
                return folder
    return None


def path_for(language: str) -> str:
    """The PATH to build with; skips where a language's tools are not there."""
    folders = [str(Path(sys.executable).parent), os.environ["PATH"]]
    if language == "rust":
        folder = rust_folder()
        if folder is None:
            pytest.skip(f"no Rust on the PATH has the target {TARGET}: rustup target add {TARGET}")
        folders.insert(0, folder)
    if language == "js" and shutil.which("npm") is None:
        pytest.skip("npm is not on the PATH: install Node.js 20 or newer")
    return os.pathsep.join(folders)


class Reader:
    """Types what a page says, in a folder."""

    def __init__(self, folder: Path, path: str) -> None:
        self.folder = folder
        self._variables = os.environ | {"PATH": path}

    def types(self, words: str) -> str:
        """What a command prints; it must succeed."""
        done = subprocess.run(
            ["bash", "-c", words],
            cwd=self.folder,
            env=self._variables,
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            check=False,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout


def commands_of(page: Path) -> Iterator[str]:
    return (found["words"] for found in COMMAND.finditer(page.read_text("utf-8")))


def python_kit() -> Any:
    """The evaluator of a new pack in Python."""
    module = ModuleType("sentence_length")
    exec(new_pack_files.EVALUATOR, module.__dict__)
    return module.SentenceLength


def texts() -> list[str]:
    chance = random.Random(6)
    return ["", " ", ".", *("".join(chance.choices(ALPHABET, k=chance.randrange(60))) for _ in range(RECORDS))]


def wanted(texts: list[str], ends: str) -> list[tuple[str, float | None]]:
    outcomes = [score(python_kit(), Record(output=text), ends=ends) for text in texts]
    return [(one.kind, one.value if one.kind == "scored" else None) for one in outcomes]


def given(results: Path) -> list[tuple[str, float | None]]:
    found = json.loads(results.read_text("utf-8"))["results"]
    by_id = {int(one["record_id"]): one for one in found}
    return [
        (one["outcome"], one["scores"][0]["value"] if one["outcome"] == "scored" else None)
        for one in (by_id[number] for number in range(len(by_id)))
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_pack_does_all_that_its_page_says_and_scores_as_the_one_in_python(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALSI_HOME", str(tmp_path / "home"))
    project = Reader(tmp_path, path_for(language))
    project.types(f"{EVALSI} plugins new acme/tone --wasm {language}")
    author = Reader(tmp_path / "tone", path_for(language))
    printed = {words: author.types(words) for words in commands_of(author.folder / "README.md")}
    assert printed["evalsi plugins check ."].endswith(f"acme/tone {CONFORMS}.\n")
    assert printed["evalsi plugins check . --against tone-0.1.0.tar.gz"].endswith(f"acme/tone {CONFORMS}, stable.\n")
    (evaluated,) = [text for words, text in printed.items() if " evalsi eval " in words]
    assert "sentence-length  3  4.500" in evaluated

    project.types("evalsi plugins add tone/tone-0.1.0.tar.gz")
    some = texts()
    outputs = [*some, {"a": 1}, [{"role": "assistant", "content": "One. Two."}]]
    data = write_jsonl(tmp_path / "data.jsonl", [{"id": str(at), "output": one} for at, one in enumerate(outputs)])
    for ends in ENDS:
        param = f"--param 'sentence-length.ends={json.dumps(ends)}'"
        project.types(f"evalsi eval --data {data} --evaluators acme/tone/sentence-length {param} --output found.json")
        assert given(tmp_path / "found.json") == [*wanted(some, ends), ("skipped", None), ("skipped", None)]
