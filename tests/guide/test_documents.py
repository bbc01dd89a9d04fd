"""Nothing that the guide's documents name is missing from the checklist.

The documents are not part of the repository: where they are not beside the checkout, these tests are skipped, and the
patterns are still tried on text of their own.
"""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.guide import documents, status

DOCUMENTS = sorted((status.ROOT.parent / "shared" / "seeds").glob("*.txt"))
FOREIGN: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "foreign.toml").read_text(encoding="utf-8"))
ROWS = status.every_row(status.load())


def listed(kind: str) -> set[str]:
    return {row.name for row in ROWS if row.kind == kind}


PREFIX = "/v1alpha1"  # stated once for all routes, so the documents leave it out
COMMANDS = listed("command")
FLAGS = listed("flag")
FILES = listed("file")


def lacking_commands(text: str) -> Iterator[str]:
    """Commands, and flags of commands, that no row names."""
    for call in documents.calls(text):
        if not call.words or is_prose(call):
            continue
        for spelling in call.spellings(3):
            command = max((one for one in COMMANDS if f"{spelling} ".startswith(f"{one} ")), key=len, default=None)
            is_group = any(one.startswith(f"{spelling} ") for one in COMMANDS)
            if command is None and not is_group:
                yield spelling
            yield from (f"{command} {flag}" for flag in call.flags if f"{command} {flag}" not in FLAGS)


def is_prose(call: documents.Call) -> bool:
    said = " ".join(alternatives[0] for alternatives in call.words)
    return any(f"{said} ".startswith(f"{words} ") for words in FOREIGN["prose"])


def is_known_file(name: str) -> bool:
    return any(one == name or one.endswith(f"/{name}") for one in FILES) or name in FOREIGN["file"]


LACKING: dict[str, Callable[[str], set[str]]] = {
    "command and its flags": lambda text: set(lacking_commands(text)),
    "flag": lambda text: (
        documents.names(documents.FLAG, text) - {word for flag in FLAGS for word in flag.split()} - set(FOREIGN["flag"])
    ),
    "environment variable": lambda text: (
        documents.names(documents.VARIABLE, text)
        - listed("environment variable")
        - set(FOREIGN["environment variable"])
    ),
    "file": lambda text: {
        name for name in documents.names(documents.FILE, text.replace("../", "")) if not is_known_file(name)
    },
    "evaluator": lambda text: documents.evaluators(text) - listed("evaluator"),
    "uri": lambda text: (
        documents.names(documents.SCHEME, text) - {one.partition(":")[0] for one in listed("uri")} - set(FOREIGN["uri"])
    ),
    "key": lambda text: documents.keys(text) - documents.segments(listed("key")) - set(FOREIGN["key"]),
    "route": lambda text: {
        route
        for route in documents.names(documents.ROUTE, text) | documents.names(documents.METHOD, text)
        if not any(one.replace(PREFIX, "").endswith(route.replace(PREFIX, "")) for one in listed("route"))
    },
    "exit code": lambda text: documents.names(documents.EXIT_CODE, text) - {one[0] for one in listed("exit code")},
}


@pytest.mark.parametrize("kind", LACKING)
def test_everything_that_the_documents_name_is_on_the_checklist(kind: str) -> None:
    if not DOCUMENTS:
        pytest.skip("the guide's documents are not beside this checkout")
    lacking = {document.name: LACKING[kind](document.read_text(encoding="utf-8")) for document in DOCUMENTS}
    assert {name: found for name, found in lacking.items() if found} == {}


def test_every_name_that_is_set_aside_as_foreign_does_stand_in_the_documents() -> None:
    if not DOCUMENTS:
        pytest.skip("the guide's documents are not beside this checkout")
    text = "\n".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    assert [name for names in FOREIGN.values() for name in names if name not in text] == []


@pytest.mark.parametrize(
    ("kind", "text", "name"),
    [
        ("command and its flags", "run `evalsi frobnicate` first", "evalsi frobnicate"),
        ("command and its flags", "evalsi auth keys create|rotate ...", "evalsi auth keys rotate"),
        ("command and its flags", "evalsi eval --data x.jsonl \\\n  --frob 3", "evalsi eval --frob"),
        ("command and its flags", "evalsi run -f x.yaml | tee y && evalsi compare a b --frob", "evalsi compare --frob"),
        ("flag", "Pass --frob to force it.", "--frob"),
        ("environment variable", "set EVALSI_FROB", "EVALSI_FROB"),
        ("file", "see ../examples/frob/all.yaml.", "examples/frob/all.yaml"),
        ("evaluator", "evalsi eval --evaluators exact-match,frob-match \\", "frob-match"),
        ("evaluator", "    - {ref: acme/frob, name: f}", "acme/frob"),
        ("uri", "reads frob://bucket/x", "frob"),
        ("key", "  frob_limit: 3", "frob_limit"),
        ("key", "dataset: {path: x, frob: y}", "frob"),
        ("route", "include POST /frobs/{id}:melt, and", "POST /frobs/{id}:melt"),
        ("exit code", "A refusal exits with code 7.", "7"),
    ],
)
def test_a_name_that_is_not_on_the_checklist_is_found(kind: str, text: str, name: str) -> None:
    assert LACKING[kind](text) == {name}


@pytest.mark.parametrize("kind", LACKING)
def test_a_command_that_is_on_the_checklist_leaves_nothing_lacking(kind: str) -> None:
    text = "evalsi eval --data examples/quickstart/qa.jsonl --evaluators exact-match,latency --map input=question"
    assert LACKING[kind](text) == set()
