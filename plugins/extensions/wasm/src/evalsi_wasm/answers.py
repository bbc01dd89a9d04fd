"""Decode and validate a guest's answers.

Guests are untrusted: an invalid outcome becomes an error outcome of its record.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

from evalsi_protocol.errors import LocalMisuse, Violation, WireError, sendable
from evalsi_protocol.frames import decode_payload, pack
from evalsi_protocol.methods import VERDICTS
from evalsi_protocol.values import check_value
from evalsi_wasm.faults import GuestFault, bad_answer

_HEAD: Final = b"\x95" + pack(1) + pack(1) + pack("answer")
_TAIL: Final = b"\x80"
OF_RECORD: Final = frozenset({"scored", "skipped", "error"})
OF_DATASET: Final = frozenset({"state", "skipped", "error"})
OF_PLAN: Final = frozenset({"planned", "skipped", "error"})
_NUMBERS = (int, float)


def read_answer(data: bytes) -> dict[str, Any]:
    """Decode an answer.

    Raises:
        GuestFault: the answer is not a valid MessagePack map, or it contains an error of the module.
    """
    body = read_map(data)
    error = body.get("error")
    if isinstance(error, dict):
        wire = WireError.from_body(error)
        fault = GuestFault(wire.code, wire.message, wire.hint, is_fatal=False)
        fault.error = wire
        raise fault
    return body


def read_map(data: bytes) -> dict[str, Any]:
    """Decode a MessagePack map under the protocol's rules; raises `GuestFault` if it is invalid."""
    try:
        # The codec only reads frames, so wrap the data in one: the same rules apply to answers.
        return decode_payload(_HEAD + data + _TAIL).body
    except Violation as violation:
        reason = violation.error.message.removeprefix("A frame is ").removeprefix("not valid msgpack: ").rstrip(".")
        if reason.startswith("The body"):
            reason = "it is not a map"
        raise bad_answer(f"cannot be read: {reason}") from violation


def outcomes_in(body: dict[str, Any], key: str, count: int) -> list[Any]:
    """Return the list of outcomes under `key`; raises `GuestFault` unless it has `count` elements."""
    outcomes = body.get(key)
    if not isinstance(outcomes, list):
        raise bad_answer(f"has no list {key}")
    if len(outcomes) != count:
        raise bad_answer(f"has {len(outcomes):,} {key} for {count:,} records")
    return outcomes


def settled(outcome: Any, admitted: frozenset[str]) -> list[Any]:
    """Return the guest's outcome if it is valid, else an error outcome that says why it is not.

    Args:
        outcome: one element of an answer's list.
        admitted: kinds of outcome that this call may return.
    """
    if _is_plain(outcome) and "scored" in admitted:
        return list(outcome)
    if not isinstance(outcome, list) or len(outcome) != 2 or not isinstance(outcome[0], str):
        return failed(bad_answer("has an outcome that is not [kind, payload]").error)
    kind, payload = outcome
    if kind not in admitted:
        there_are = ", ".join(sorted(admitted))
        return failed(bad_answer(f"has the outcome {kind[:40]!r}; there are {there_are}").error)
    if kind == "scored":
        return _settled_scores(payload)
    if not isinstance(payload, dict):
        return failed(bad_answer(f"has the outcome {kind} without a map beside it").error)
    return _settled_map(kind, payload)


def _settled_map(kind: str, payload: dict[str, Any]) -> list[Any]:
    if kind == "error":
        return failed(WireError.from_body(payload))
    if kind == "skipped":
        reason = payload.get("reason")
        return ["skipped", {"reason": sendable(reason if isinstance(reason, str) and reason else "no reason given")}]
    try:
        check_value(payload)
    except LocalMisuse as misuse:
        return failed(misuse.error)
    if kind == "planned" and not _are_questions(payload.get("requests")):
        return failed(bad_answer("has a plan whose requests are not a list of maps").error)
    if kind == "state" and "state" not in payload:
        return failed(bad_answer("has the outcome state without a state").error)
    return [kind, payload]


def failed(error: WireError) -> list[Any]:
    """Return an error outcome."""
    return ["error", error.to_body()]


def _is_plain(outcome: Any) -> bool:
    """Whether the outcome is a single score with only a valid verdict: the common case, which skips other checks."""
    if type(outcome) is not list or len(outcome) != 2 or outcome[0] != "scored":
        return False
    payload = outcome[1]
    if type(payload) is not list or len(payload) != 1 or type(payload[0]) is not dict or len(payload[0]) != 1:
        return False
    ((key, verdict),) = payload[0].items()
    return type(verdict) is bool if key == "passed" else key == "value" and type(verdict) is float and isfinite(verdict)


def _settled_scores(scores: Any) -> list[Any]:
    """Return the outcome for some scores; an invalid score becomes an error of its metric if others are valid."""
    if not isinstance(scores, list) or not scores:
        return failed(_bad_score("it is not a list of one score or more"))
    settled_scores = []
    problems = [_score_problem(score) for score in scores]
    for score, problem in zip(scores, problems, strict=True):
        if problem and (all(problems) or not isinstance(score, dict) or not isinstance(score.get("name") or "", str)):
            return failed(_bad_score(problem))
        named = {"name": sendable(score["name"])} if problem and score.get("name") else {}
        settled_scores.append({**named, "error": _bad_score(problem).to_body()} if problem else score)
    return ["scored", settled_scores]


def _bad_score(problem: str) -> WireError:
    hint = "Answer one of value, passed and label, each finite."
    return WireError("pack.bad_score", f"The score cannot stand: {problem}.", hint)


def _score_problem(score: Any) -> str:
    if not isinstance(score, dict):
        return "a score is not a map"
    verdicts = [key for key in VERDICTS if score.get(key) is not None]
    if len(verdicts) != 1:
        return "a score has not exactly one of value, passed and label"
    value = score.get("value")
    if value is not None and (type(value) not in _NUMBERS or not isfinite(value)):
        return f"its value is {value!r:.40}, which is no finite number"
    try:
        check_value(score)
    except LocalMisuse as misuse:
        return misuse.error.message.rstrip(".")
    return ""


def _are_questions(requests: Any) -> bool:
    return isinstance(requests, list) and bool(requests) and all(isinstance(one, dict) for one in requests)
