"""Score records and validate the outcomes: one for each pair, in a form of the specification."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from evalsi_conformance.samples import Record
from evalsi_conformance.session import Item, Session
from evalsi_protocol.errors import WireError

RECORDS_A_REQUEST: Final = 16
KINDS: Final = ("scored", "skipped", "error", "cancelled", "state")
VERDICTS: Final = ("passed", "value", "label")


class Outcome(NamedTuple):
    """The outcome of one pair."""

    kind: str
    payload: Any

    def verdict(self) -> tuple[Any, ...]:
        """The part that must be equal in every process: the scores, or the kind of the outcome."""
        if self.kind == "scored" and isinstance(self.payload, list):
            scores = [one for one in self.payload if isinstance(one, Mapping)]
            return (self.kind, *sorted((str(one.get("name", "")), *_verdict(one)) for one in scores))
        if self.kind == "state":
            return (self.kind, repr(self.payload))
        code = self.payload.get("code") if self.kind == "error" and isinstance(self.payload, Mapping) else ""
        return (self.kind, code)

    def shown(self) -> str:
        """Return the outcome as text for a message."""
        verdict = self.verdict()
        if self.kind == "scored":
            return ", ".join(f"{name or 'score'} {key} {value}" for name, key, value in verdict[1:]) or "scored"
        if self.kind == "error" and isinstance(self.payload, Mapping):
            return f"the error {verdict[1]} ({str(self.payload.get('message', ''))[:160]})"
        return self.kind


class Scoring(NamedTuple):
    """The outcomes of a `score` request.

    Args:
        outcomes: (session, record id) → outcome.
        faults: violations of the specification, as sentences.
    """

    outcomes: dict[tuple[int, str], Outcome]
    faults: list[str]

    def of(self, session: int) -> dict[str, Outcome]:
        """Return the outcomes of one evaluator by record id."""
        return {record: outcome for (number, record), outcome in self.outcomes.items() if number == session}

    def states(self, session: int, ids: Sequence[str]) -> list[Any]:
        """Return the states of one evaluator, in the order of the data."""
        own = self.of(session)
        found = [own[one] for one in ids if one in own and own[one].kind == "state"]
        return [one.payload.get("state") if isinstance(one.payload, Mapping) else None for one in found]


def score(
    session: Session, numbers: Sequence[int], records: Sequence[Record], per_request: int = RECORDS_A_REQUEST
) -> Scoring:
    """Score records with evaluators, in batches.

    Raises:
        Lost: the pack did not answer.
    """
    scoring = Scoring({}, [])
    for start in range(0, len(records), per_request):
        chunk = list(records[start : start + per_request])
        request = session.begin("score", {"sessions": list(numbers), "records": chunk})
        answer = session.answer_to(request)
        if isinstance(answer, WireError):
            scoring.faults.append(f"score was refused: {answer.code}: {answer.message}")
            continue
        sort_items(scoring, session.items.pop(request), numbers, chunk)
        scoring.faults.extend(_wrong_count(scoring, answer, numbers, chunk))
    scoring.faults.extend(session.wrong_items)
    session.wrong_items.clear()
    return scoring


def sort_items(scoring: Scoring, items: list[Item], numbers: Sequence[int], records: Sequence[Record]) -> None:
    """Assign the items of one request to their pairs. Report items without a pair, and duplicates."""
    for item in items:
        known = type(item.index) is int and 0 <= item.index < len(records) and item.session in numbers
        if not known:
            scoring.faults.append(f"an item names session {item.session!r:.40} and index {item.index!r:.40} (ITM-2)")
            continue
        pair = (item.session, records[item.index]["id"])
        if pair in scoring.outcomes:
            scoring.faults.append(f"the record {pair[1]} got two outcomes in session {pair[0]} (ITM-3)")
            continue
        outcome = Outcome(str(item.outcome), item.payload)
        scoring.outcomes[pair] = outcome
        scoring.faults.extend(f"the record {pair[1]} in session {pair[0]}: {fault}" for fault in form_faults(outcome))


def form_faults(outcome: Outcome) -> Iterator[str]:
    """Return what is wrong with the form of an outcome."""
    kind, payload = outcome
    if kind not in KINDS:
        yield f'the outcome is "{kind:.40}"'
    elif kind == "scored":
        yield from _score_faults(payload)
    elif not isinstance(payload, Mapping):
        yield f"the payload of {kind} is no map"
    elif kind in ("skipped", "cancelled"):
        if not isinstance(payload.get("reason"), str) or not payload["reason"]:
            yield f"{kind} has no reason"
    elif kind == "state":
        if "state" not in payload:
            yield "state has no state"
    elif not payload.get("code") or not payload.get("message"):
        yield "the error has no code or no message"


def aggregate(session: Session, number: int, states: Sequence[Any]) -> Outcome:
    """Return the outcome of an evaluator with scope `dataset` for these states. An error answer becomes an error."""
    answer = session.ask("aggregate", {"session": number, "states": list(states)})
    if isinstance(answer, WireError):
        return Outcome("error", answer.to_body())
    return Outcome(str(answer.get("outcome")), answer.get("payload"))


def _verdict(score: Mapping[str, Any]) -> tuple[str, str]:
    for key in VERDICTS:
        if key in score:
            return key, repr(score[key])
    return "", ""


def _score_faults(payload: Any) -> Iterator[str]:
    if not isinstance(payload, list) or not payload or not all(isinstance(one, Mapping) for one in payload):
        yield "scored has no list of scores"
        return
    names = [one.get("name", "") for one in payload]
    if len(set(map(str, names))) < len(names):
        yield "two of its scores have one name (OUT-4)"
    failed = [one for one in payload if isinstance(one.get("error"), Mapping)]
    if len(failed) == len(payload):
        yield "all of its scores are errors (OUT-6)"
    for one in payload:
        if one in failed and not any(one.get(key) is not None for key in VERDICTS):
            continue
        given = [key for key in VERDICTS if one.get(key) is not None]
        if len(given) != 1:
            yield f"a score has {' and '.join(given) or 'none'} of passed, value and label (OUT-3)"
            continue
        value = one[given[0]]
        right = {"passed": bool, "label": str}.get(given[0])
        if right is not None and not isinstance(value, right):
            yield f"{given[0]} is {value!r:.60} (OUT-3)"
        elif right is None and (isinstance(value, bool) or not isinstance(value, int | float)):
            yield f"value is {value!r:.60}, which is no number (OUT-3)"
        elif right is None and not math.isfinite(value):
            yield f"value is {value}, which is not finite (OUT-3)"


def _wrong_count(
    scoring: Scoring, answer: Mapping[str, Any], numbers: Sequence[int], records: Sequence[Record]
) -> Iterator[str]:
    counted: dict[str, int] = {}
    for record in records:
        for number in numbers:
            outcome = scoring.outcomes.get((number, record["id"]))
            if outcome is None:
                yield f"the record {record['id']} got no outcome in session {number} (SCO-1)"
            else:
                counted[outcome.kind] = counted.get(outcome.kind, 0) + 1
    told = answer.get("outcomes")
    if not isinstance(told, Mapping) or {kind: n for kind, n in told.items() if n} != counted:
        yield f"the answer to score counts {told!r:.80}, and the items are {counted} (SCO-3)"
