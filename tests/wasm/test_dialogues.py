"""The protocol's own vectors, played by a kernel against the session that serves a module: the example guests, and one
that gives one answer to everything.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evalsi_protocol.frames import Frame, Kind, encode_frame
from tests.protocol import vectors
from tests.protocol.kernel_end import BOUND_S
from tests.wasm.hosting import KIND, WORDS, Raw, raw
from tests.wasm.wat import guest


class Guest(NamedTuple):
    """A module, one of its evaluators that asks no judge, and what that says of the dialogues' output "x"."""

    module: Path | bytes
    evaluator: str
    of_x: dict[str, Any]


PLAYED = "e"
"""What the evaluator is called in the dialogues."""
GUESTS = {
    "constant": Guest(guest(description={"evaluators": [{"name": PLAYED, "version": "1"}]}), PLAYED, {"passed": True}),
    "words": Guest(WORDS, "word-count", {"value": 1.0}),
    "kind": Guest(KIND, "characters", {"value": 1.0}),
}
DIALOGUES = [one for one in vectors.dialogues() if one.get("pack_speaks", [1]) == [1]]
ANSWERS = (Kind.RESPONSE, Kind.ERROR)
SAME = ("code", "source", "retry")
HELLO: list[Any] = [0, 1, "hello", {"majors": [1], "capabilities": []}, {}]

guests = pytest.mark.parametrize("name", GUESTS)


def fitted(dialogue: dict[str, Any], evaluator: str) -> list[dict[str, Any]]:
    """The steps for a pack that has this evaluator: it stands for the script's own, and the sessions that the script
    scores with, and takes to be open, are opened after the greeting.
    """
    steps: list[dict[str, Any]] = copy.deepcopy(dialogue["steps"])
    frames = [step["frame"] for step in steps if "frame" in step and step["from"] == "kernel"]
    bodies = [body for kind, _, _, body, _ in frames if kind == Kind.REQUEST]
    used = {session for body in bodies for session in body.get("sessions", [])}
    missing = sorted(used - {body["session"] for body in bodies if "evaluator" in body})
    for body in bodies:
        if body.get("evaluator") == PLAYED:
            body["evaluator"] = evaluator
    for step in steps:
        kind, request, method, body, _ = step.get("frame") or [None, 0, "", {}, {}]
        by_kernel = (step["from"] == "kernel") == (kind == Kind.REQUEST)
        if by_kernel and kind != Kind.EVENT and request > 1:
            step["frame"][1] += 2 * len(missing)
        if method == "cancel" and step["from"] == "kernel":
            body["id"] += 2 * len(missing)
    opens: list[dict[str, Any]] = []
    for place, session in enumerate(missing, 1):
        opening = {"session": session, "evaluator": evaluator, "params": {}}
        opens.append({"from": "kernel", "frame": [0, 1 + 2 * place, "open", opening, {}]})
        opens.append({"from": "pack", "frame": [1, 1 + 2 * place, "open", {}, {}]})
    return [*steps[:2], *opens, *steps[2:]]


@guests
@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda one: str(one["name"]))
def test_the_kernels_half_of_a_dialogue_gets_one_answer_a_request(
    dialogue: dict[str, Any], name: str, tmp_path: Path
) -> None:
    """What is answered may differ from the script, since the script's pack is another one; how may not."""
    steps = fitted(dialogue, GUESTS[name].evaluator)
    asked: list[tuple[int, str]] = []
    with raw(GUESTS[name].module, tmp_path) as wire:
        is_broken = play(steps, wire, asked)
    answers = [(one.id, one.method) for one in wire.frames if one.kind in ANSWERS]
    assert len(answers) == len(set(answers))
    assert set(answers) <= set(asked)
    if not is_broken:
        assert set(answers) == set(asked)
    for automatic in [step["frame"] for step in steps if step.get("automatic") and step["from"] == "pack"]:
        if automatic[3]["code"] != "protocol.window":  # A module's host takes in more requests than the script's pack.
            (sent,) = [one for one in wire.frames if list(one[:3]) == automatic[:3]]
            assert {key: sent.body[key] for key in SAME} == {key: automatic[3][key] for key in SAME}
    scored = [one for one in wire.frames if (one.kind, one.method) == (Kind.RESPONSE, "score")]
    for answer in scored:
        assert sum(answer.body["outcomes"].values()) == len(outcomes_of(answer.id, wire.frames)), "SCO-3"
        assert answer.body["outcomes"].keys() <= {"scored", "skipped"}
    # A host gives up what is open when its kernel cancels or says goodbye, and answers that too.
    gives_up = {"cancel", "bye"} & {step["frame"][2] for step in steps if "frame" in step}
    if not is_broken and not gives_up:
        assert len(scored) == sum(method == "score" for _, method in asked), "each reached the module"


def play(steps: list[dict[str, Any]], wire: Raw, asked: list[tuple[int, str]]) -> bool:
    """Say the kernel's half, and wait where the script has an answer; whether the script broke the session.

    Args:
        steps: of the dialogue.
        wire: the kernel's end.
        asked: gets the id and the method of each request that has to be answered.
    """
    together, is_broken = b"", False
    for step in steps:
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
    for request, _ in [] if is_broken else asked:
        # The end of the stream would give up what is being scored.
        wire.until_answered(request)
    wire.end()
    return is_broken


def outcomes_of(request: int, frames: list[Frame]) -> list[Any]:
    """What came of each pair of a request, in items and in runs."""
    bodies = [one.body for one in frames if one.method == "item" and one.body["request"] == request]
    runs = [run for body in bodies for run in body.get("runs", [])]
    return [item for body in bodies for item in body.get("items", [])] + [
        value for _, _, ((_, _, values), *_) in runs for value in values
    ]


@guests
def test_a_whole_session_goes_as_the_script_has_it(name: str, tmp_path: Path) -> None:
    (dialogue,) = [one for one in DIALOGUES if one["name"] == "a whole session"]
    steps = fitted(dialogue, GUESTS[name].evaluator)
    assert len(steps) == len(dialogue["steps"])
    with raw(GUESTS[name].module, tmp_path) as wire:
        for step in steps:
            if step["from"] == "kernel":
                wire.put(encode_frame(*step["frame"]))
                wire.until_answered(step["frame"][1])
    scripted = [step["frame"] for step in steps if step["from"] == "pack" and "frame" in step]
    assert [one[:3] for one in wire.frames] == [tuple(frame[:3]) for frame in scripted]
    bodies = [one.body for one in wire.frames]
    assert bodies[0]["major"] == 1
    assert GUESTS[name].evaluator in [one["name"] for one in bodies[1]["evaluators"]]
    assert bodies[3] == {"request": 7, "items": [[1, 0, "scored", [GUESTS[name].of_x]]]}
    assert bodies[4] == scripted[4][3], "the answer to score"


@pytest.mark.parametrize("vector", vectors.frames("bad"), ids=lambda one: str(one.get("name", one["hex"][:16])))
def test_bytes_that_are_no_frame_end_the_session(vector: dict[str, Any], tmp_path: Path) -> None:
    with raw(GUESTS["constant"].module, tmp_path) as wire:
        wire.put(encode_frame(*HELLO))
        wire.until_answered(1)
        wire.put(bytes.fromhex(vector["hex"]))
        wire.thread.join(BOUND_S)
        assert not wire.thread.is_alive(), "it still waits for more"


def test_the_vectors_are_played_at_all() -> None:
    assert len(DIALOGUES) > 15
