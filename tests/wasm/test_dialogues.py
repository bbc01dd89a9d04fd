"""The protocol's own vectors, played by a kernel against the session that serves a module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalsi_protocol.frames import Kind, encode_frame
from tests.protocol import vectors
from tests.protocol.kernel_end import BOUND_S
from tests.wasm.hosting import raw
from tests.wasm.wat import guest

DIALOGUES = [one for one in vectors.dialogues() if one.get("pack_speaks", [1]) == [1]]
ANSWERS = (Kind.RESPONSE, Kind.ERROR)
SAME = ("code", "blame", "retry")
PLAYED = "e"
"""What the evaluator is called in the dialogues."""
CODE = guest(description={"evaluators": [{"name": PLAYED, "version": "1"}]})
HELLO: list[Any] = [0, 1, "hello", {"majors": [1], "capabilities": []}, {}]


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda one: str(one["name"]))
def test_the_kernels_half_of_a_dialogue_gets_one_answer_a_request(dialogue: dict[str, Any], tmp_path: Path) -> None:
    """What is answered may differ from the script, since the script's pack is another one; how may not."""
    asked: list[tuple[int, str]] = []
    with raw(CODE, tmp_path) as wire:
        together, is_broken = b"", False
        for step in dialogue["steps"]:
            kind, request, method = (step.get("frame") or [None, 0, ""])[:3]
            if is_broken:
                break
            if step["from"] == "pack":
                wire.put(together) if together else None
                together = b""
                if kind in ANSWERS and (request, method) in asked and not {"sender", "receiver"} & step.keys():
                    wire.until_answered(request)
            elif step.get("eof"):
                is_broken = True
            elif kind not in ANSWERS:
                # What the script's pack asks no module does, so there is nothing that the kernel would answer.
                together += bytes.fromhex(step["hex"]) if "hex" in step else encode_frame(*step["frame"])
                is_broken = step.get("receiver") == "ends"
                if kind == Kind.REQUEST and not is_broken:
                    asked.append((request, method))
        wire.put(together) if together else None
        wire.end()
    answers = [(one.id, one.method) for one in wire.frames if one.kind in ANSWERS]
    assert len(answers) == len(set(answers))
    assert set(answers) <= set(asked)
    if not is_broken:
        assert set(answers) == set(asked)
    for automatic in [step["frame"] for step in dialogue["steps"] if step.get("automatic") and step["from"] == "pack"]:
        if automatic[3]["code"] != "protocol.window":  # A module's host takes in more requests than the script's pack.
            (sent,) = [one for one in wire.frames if list(one[:3]) == automatic[:3]]
            assert {key: sent.body[key] for key in SAME} == {key: automatic[3][key] for key in SAME}


def test_a_whole_session_goes_as_the_script_has_it(tmp_path: Path) -> None:
    (dialogue,) = [one for one in DIALOGUES if one["name"] == "a whole session"]
    with raw(CODE, tmp_path) as wire:
        for step in dialogue["steps"]:
            if step["from"] == "kernel":
                wire.put(encode_frame(*step["frame"]))
                wire.until_answered(step["frame"][1])
    scripted = [step["frame"] for step in dialogue["steps"] if step["from"] == "pack" and "frame" in step]
    assert [one[:3] for one in wire.frames] == [tuple(frame[:3]) for frame in scripted]
    bodies = [one.body for one in wire.frames]
    assert bodies[0]["major"] == 1
    assert [bodies[3], bodies[4]] == [scripted[3][3], scripted[4][3]], "the item and the answer to score"


@pytest.mark.parametrize("vector", vectors.frames("bad"), ids=lambda one: str(one.get("name", one["hex"][:16])))
def test_bytes_that_are_no_frame_end_the_session(vector: dict[str, Any], tmp_path: Path) -> None:
    with raw(CODE, tmp_path) as wire:
        wire.put(encode_frame(*HELLO))
        wire.until_answered(1)
        wire.put(bytes.fromhex(vector["hex"]))
        wire.thread.join(BOUND_S)
        assert not wire.thread.is_alive(), "it still waits for more"


def test_the_vectors_are_played_at_all() -> None:
    assert len(DIALOGUES) > 15
