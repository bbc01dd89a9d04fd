"""Play every scripted dialogue from both sides."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi_protocol.errors import WireError
from evalsi_protocol.greeting import choose_major
from evalsi_protocol.methods import Role
from tests.protocol import vectors
from tests.protocol.player import play

DIALOGUES = vectors.dialogues()


def name_of(dialogue: dict[str, Any]) -> str:
    return str(dialogue["name"])


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=name_of)
@pytest.mark.parametrize("role", ["kernel", "pack"])
def test_a_dialogue_goes_as_written(dialogue: dict[str, Any], role: Role) -> None:
    assert play(dialogue, role) > 0


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=name_of)
def test_at_least_one_side_plays_a_dialogue_to_its_end(dialogue: dict[str, Any]) -> None:
    assert max(play(dialogue, "kernel"), play(dialogue, "pack")) == len(dialogue["steps"])


@pytest.mark.spec("HEL-1", "HEL-2")
@pytest.mark.parametrize("dialogue", [one for one in DIALOGUES if "pack_speaks" in one], ids=name_of)
def test_the_pack_chooses_a_major_or_says_which_side_must_move_and_to_what(dialogue: dict[str, Any]) -> None:
    hello, answer = (step["frame"][3] for step in dialogue["steps"][:2])
    chosen = choose_major(hello, tuple(dialogue["pack_speaks"]))
    assert (chosen.to_body() if isinstance(chosen, WireError) else chosen) == answer.get("major", answer)


@pytest.mark.spec("HEL-2")
@pytest.mark.parametrize("majors", [None, 7, [], ["1"], [True]])
def test_a_hello_without_majors_is_refused(majors: Any) -> None:
    refusal = choose_major({"majors": majors})
    assert isinstance(refusal, WireError)
    assert refusal.code == "protocol.version"
