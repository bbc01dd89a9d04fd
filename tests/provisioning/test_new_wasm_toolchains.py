"""A new Wasm pack in each language is built, tested, checked, released and used as its page says.

It gives what the new pack in Python gives, record by record. Needs the languages' own tools, and a package index.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evalsi import Record
from evalsi.testing import score
from evalsi_provisioning import new_pack_files
from evalsi_provisioning.authoring import LANGUAGES
from tests.cli.running import write_jsonl
from tests.provisioning.toolchains import ZIG, Shell, need_from_index, need_npm, rust

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

CONFORMS = "conforms: loads, behaves, trustworthy"
COMMAND = re.compile(r"^ {4}(?P<words>\S.*?)(?: +# .*)?$", re.MULTILINE)
# Letters of several scripts, ends of sentences and of lines, and white space of every width. The four control
# characters that only Python takes for white space are not among them.
ALPHABET = "aaabbÉß猫犬𝔘\u0301\u200d\ufeff.!?;。！:  \t\n\r\v\f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\0"
ENDS = (".!?", ";。", "a", "猫\u3000")
RECORDS = 150
SKIPPED = ("skipped", None)


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
    language: str, workshop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALSI_HOME", str(workshop / "home"))
    tools = [rust()] if language == "rust" else []
    if language == "assemblyscript":
        need_npm("assemblyscript")
    if language == "js":
        need_npm("@bytecodealliance/componentize-js")
    if language in ("zig", "c"):
        need_from_index(ZIG)
    project = Shell(workshop, *tools)
    project.types(f"evalsi plugins new acme/tone --wasm {language}")
    author = Shell(workshop / "tone", *tools)
    printed = {words: author.types(words) for words in commands_of(author.folder / "README.md")}
    assert printed["evalsi plugins check ."].endswith(f"acme/tone {CONFORMS}.\n")
    assert printed["evalsi plugins check . --against tone-0.1.0.tar.gz"].endswith(f"acme/tone {CONFORMS}, stable.\n")
    (evaluated,) = [text for words, text in printed.items() if " evalsi eval " in words]
    assert "sentence-length  3  4.500" in evaluated

    project.types("evalsi plugins add tone/tone-0.1.0.tar.gz")
    some = texts()
    outputs = [*some, {"a": 1}, [{"role": "assistant", "content": "One. Two."}]]
    data = write_jsonl(workshop / "data.jsonl", [{"id": str(at), "output": one} for at, one in enumerate(outputs)])
    for ends in ENDS:
        param = f"--param 'sentence-length.ends={json.dumps(ends)}'"
        project.types(f"evalsi eval --data {data} --evaluators acme/tone/sentence-length {param} --output found.json")
        assert given(workshop / "found.json") == [*wanted(some, ends), SKIPPED, SKIPPED]
