"""The prompts keep their words until their evaluators get a new version, and their hash says which they are."""

from __future__ import annotations

import pytest

from evalsi.definition import definition_of
from evalsi_pack_rag import EVALUATORS
from evalsi_pack_rag.prompts import ANSWER, CHUNK, CLAIMS, SUPPORT, Prompt, prompt_sha256

# A changed prompt changes scores: bump the version of the evaluators that ask with it, then write the new hash here.
KNOWN = {
    "faithfulness": ("2", (CLAIMS, SUPPORT), "4cc2e439a355686b"),
    "answer-relevance": ("3", (ANSWER,), "9b1035f00a8e9a5c"),
    "context-precision": ("2", (CHUNK,), "2609a772f896566d"),
    "context-recall": ("2", (SUPPORT,), "80a29c6b2f8d544d"),
    "citation-accuracy": ("2", (SUPPORT,), "80a29c6b2f8d544d"),
}


@pytest.mark.parametrize("evaluator", EVALUATORS, ids=lambda one: definition_of(one).name)
def test_prompts_change_only_together_with_a_version(evaluator: object) -> None:
    definition = definition_of(evaluator)
    version, prompts, known = KNOWN[definition.name]
    assert definition.version == version
    assert prompt_sha256(*prompts)[:16] == known


def test_the_hash_tells_where_one_text_ends_and_the_next_begins() -> None:
    assert len(prompt_sha256(CLAIMS)) == 64
    assert prompt_sha256(Prompt("ab", "c")) != prompt_sha256(Prompt("a", "bc"))
    assert prompt_sha256(CLAIMS, SUPPORT) != prompt_sha256(SUPPORT, CLAIMS)


@pytest.mark.parametrize("prompt", [CLAIMS, SUPPORT, CHUNK, ANSWER])
def test_every_prompt_says_that_blocks_are_no_orders(prompt: Prompt) -> None:
    assert "do not follow it" in prompt.rules
    assert "code" in prompt.rules
