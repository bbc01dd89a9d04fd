"""Templates of the files of a new pack: evaluator, test, samples, manifest, pyproject.toml and README.

The example evaluator is small but correct, so that the new pack passes all checks.
"""

from __future__ import annotations

from string import Template
from typing import Final

PLUGIN: Final = Template("""\
manifest = 1
name = "$name"
version = "0.1.0"
summary = "Long sentences: how many words a sentence of the output has."
protocol = 1

[run]
$run
workers = "cpu"
record_timeout_s = 30

# $evaluators

[[evaluators]]
name = "sentence-length"
version = "1"
summary = "Words in a sentence of the output, on average."
scope = "record"
needs = ["output"]
asks = []
outputs = [{ name = "", kind = "number", unit = "words", minimum = 0, higher_is_better = false }]

[evaluators.params]
type = "object"
additionalProperties = false

[evaluators.params.properties]
ends = { type = "string", description = "the characters that end a sentence", minLength = 1, default = ".!?" }
""")


def python_manifest(name: str, module: str) -> str:
    """Return the manifest of a Python pack."""
    evaluators = "Written from the code by `python -m evalsi.manifest`; do not edit below this line."
    return PLUGIN.substitute(name=name, run=f'module = "{module}"', evaluators=evaluators)


def wasm_manifest(name: str, module: str, memory_mb: int) -> str:
    """Return the manifest of a WebAssembly pack; `module` is the module's path in the pack's folder."""
    run = f'runtime = "wasm"\nmodule = "{module}"\nmemory_mb = {memory_mb}'
    return PLUGIN.substitute(name=name, run=run, evaluators="By hand. The module says these names and versions too.")


PYPROJECT: Final = Template("""\
[project]
name = "$distribution"
version = "0.1.0"
description = "Long sentences: how many words a sentence of the output has. A pack of evaluators for Evals.si."
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["evalsi-sdk>=$version"]

[dependency-groups]
dev = ["evalsi-conformance>=$version", "pytest>=8"]

[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["src/$module"]

# The wheel carries what a pack is known by.
[tool.hatch.build.targets.wheel.force-include]
"plugin.toml" = "$module/plugin.toml"
"uv.lock" = "$module/uv.lock"
$sources
[tool.pytest.ini_options]
testpaths = ["tests"]
""")

SOURCES: Final = Template("""
# Evals.si runs from a checkout here. Take this away once the versions above are released.
[tool.uv.sources]
evalsi-sdk = { path = "$checkout/sdk", editable = true }
evalsi-protocol = { path = "$checkout/protocol", editable = true }
evalsi-conformance = { path = "$checkout/protocol/conformance", editable = true }
""")

PACKAGE: Final = Template('''\
"""The evaluators of the pack $name, in the order of its manifest."""

from $module.sentence_length import SentenceLength

__all__ = ["SentenceLength"]
''')

EVALUATOR: Final = '''\
"""How long the sentences of an output are."""

from __future__ import annotations

from typing import Annotated

from evalsi import Output, Param, Record, Skip, evaluator


@evaluator(
    name="sentence-length",
    version=1,
    needs=("output",),
    outputs=[Output(kind="number", unit="words", minimum=0, higher_is_better=False)],
)
class SentenceLength:
    """Words in a sentence of the output, on average."""

    def __init__(
        self, ends: Annotated[str, Param(description="the characters that end a sentence", min_length=1)] = ".!?"
    ) -> None:
        self._ends = str.maketrans({end: "\\n" for end in ends})

    def score(self, record: Record) -> float:
        text = record.output_text
        sentences = [line.split() for line in text.translate(self._ends).splitlines() if line.strip()]
        if not sentences:
            # Nothing to judge is no number: neither 0 nor 1.
            raise Skip("the output has no words")
        return sum(map(len, sentences)) / len(sentences)
'''

TEST: Final = Template('''\
"""Sentences are counted as a reader counts them; an output without words is skipped."""

from evalsi import Record
from evalsi.testing import run_pack, score
from $module import SentenceLength


def test_the_words_of_a_sentence_are_averaged() -> None:
    assert score(SentenceLength, Record(output="One two three. Four!")).value == 2.0


def test_other_ends_of_a_sentence_can_be_named() -> None:
    assert score(SentenceLength, Record(output="one two; three"), ends=";").value == 1.5


def test_what_has_no_words_is_skipped() -> None:
    records = [Record(output=" . "), Record(input="no output")]
    run = run_pack("$module", "sentence-length", records)
    assert [outcome.kind for outcome in run.outcomes] == ["skipped", "skipped"]
''')

SAMPLES: Final = """\
{"id": "short", "input": "How are you?", "output": "Fine. And you?"}
{"id": "long", "input": "Why is the sky blue?", "output": "Small particles scatter blue light more than red light."}
{"id": "other script", "input": "Où est le chat ?", "output": "Il dort sur le canapé. 猫はソファで寝ています！"}
"""

README: Final = Template("""\
# $name

Long sentences: how many words a sentence of the output has.

| evaluator | gives | what it says |
|---|---|---|
| `sentence-length` | number (words), lower is better | Words in a sentence of the output, on average. |

Work on it:

    uv lock                                       # after each change of the dependencies
    uv run pytest                                 # the tests of this pack
    uv run pytest --evalsi-pack .                 # the same, and the conformance kit
    uv run python -m evalsi.manifest $module --write plugin.toml    # after each change of an evaluator's declaration
    evalsi plugins check .                        # the kit, in the environment of the lock

Raise an evaluator's `version` whenever a score may change, and have it checked:
`evalsi plugins check . --against RELEASED.whl`.
Publish it: `uv build --wheel`.
""")

IGNORED: Final = ".venv/\n__pycache__/\n*.egg-info/\ndist/\n.pytest_cache/\n"
