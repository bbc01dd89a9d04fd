"""The check *questions*: a pack asks no more questions than its manifest declares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from evalsi_conformance.bench import Bench
from evalsi_conformance.findings import Fault
from evalsi_conformance.outcomes import score
from evalsi_conformance.samples import Record, odd_records
from evalsi_conformance.scripted_judge import FAILURES, Manner, Question
from evalsi_conformance.session import Session
from evalsi_protocol.errors import WireError

LONG: Final = 40
"""Number of sentences, contexts and steps of the long record. Some evaluators ask a question about each."""
_ASKS: Final = {"judge.ask": "judge", "embed.ask": "embed"}


def questions(bench: Bench) -> Iterator[Fault]:
    """The number of questions per record stays within the declared limit, for all records and answers."""
    session = bench.shared()
    bounds = bench.subject.manifest.questions
    records = [*bench.subject.samples, *_long(bench.subject.samples[0]), *odd_records()]
    # A question that fails may be asked again, which counts as well.
    manners: tuple[Manner, ...] = ("answers", *FAILURES) if bounds else ("answers",)
    faults: dict[tuple[str, str], Fault] = {}
    for manner in manners:
        session.judge.manner = manner
        session.judge.questions.clear()
        try:
            score(session, bench.sessions, records, per_request=len(records))
        finally:
            session.judge.manner = "answers"
        for kind, fault in _faults(bench, session.judge.questions, {record["id"] for record in records}):
            faults.setdefault((kind, fault.evaluator), fault)
    yield from faults.values()
    if bounds:
        yield from _planned(bench, session, records)


def _faults(bench: Bench, asked: Sequence[Question], ids: set[str]) -> Iterator[tuple[str, Fault]]:
    """Yield the faults of the questions of one scoring, each with its kind."""
    bounds, roles = bench.subject.manifest.questions, bench.subject.manifest.roles
    plain = [_hashable(one) for one in asked]
    for question in dict.fromkeys(plain):
        if question.session not in bench.sessions:
            if not bounds:
                continue
            what = f"{question.method} names session {question.session!r:.40}, which is not open."
            yield "session", Fault(what, "Send the session of the evaluator that asks.")
            continue
        name = bench.name_of(question.session)
        declared = bench.subject.evaluators[question.session - 1].get("asks", [])
        if _ASKS[question.method] not in declared:
            what = f"it sends {question.method}, and its manifest has asks = {declared!r:.80}."
            yield "asks", Fault(what, f'Write "{_ASKS[question.method]}" into its asks.', name)
        elif roles is not None and question.role != "embed" and question.role not in roles:
            what = f"it asks for the role {question.role!r:.60}, and permissions.judge is {list(roles)!r:.80}."
            yield "role", Fault(what, "Name the role in permissions.judge.", name)
        if bounds and question.record != "" and question.record not in ids:
            what = f"it asks about the record {question.record!r:.60}, which it is not scoring."
            yield "record", Fault(what, "Send the id of the record that the question is about.", name)
    for (number, record), count in Counter((one.session, one.record) for one in plain).items():
        if number not in bench.sessions:
            continue
        most = bounds.get(bench.name_of(number))
        if most is not None and count > most:
            about = f"the record {record:.60}" if record else "no record"
            what = f"it asks {count} questions about {about}, and permissions.asks_per_record allows {most}."
            yield "count", Fault(what, "Declare the most that it asks, or ask less.", bench.name_of(number))


def _planned(bench: Bench, session: Session, records: Sequence[Record]) -> Iterator[Fault]:
    """Check the plans of an evaluator with `plan` and `reduce` against the same limit."""
    for number in bench.sessions:
        most = bench.subject.manifest.questions.get(bench.name_of(number))
        if most is None:
            continue
        answer = session.ask("plan", {"session": number, "records": list(records)})
        plans = [] if isinstance(answer, WireError) else answer.get("plans", [])
        counts = [_planned_count(one) for one in plans if isinstance(one, list)] if isinstance(plans, list) else []
        if max(counts, default=0) > most:
            what = f"it plans {max(counts)} questions about a record, and permissions.asks_per_record allows {most}."
            yield Fault(what, "Declare the most that it asks, or ask less.", bench.name_of(number))


def _planned_count(plan: list[Any]) -> int:
    payload = plan[1] if len(plan) == 2 and plan[0] == "planned" else None
    requests = payload.get("requests") if isinstance(payload, Mapping) else None
    return len(requests) if isinstance(requests, list) else 0


def _hashable(question: Question) -> Question:
    session, record, method, role = question
    return Question(
        session if type(session) is int else repr(session),
        record if isinstance(record, str) else repr(record),
        method,
        role if isinstance(role, str) else repr(role),
    )


def _long(sample: Record) -> list[Record]:
    """Return a sample with a long answer, many contexts and many steps."""
    sentences = [f"Fact {number} is that {number} and {number} make {2 * number}." for number in range(LONG)]
    steps = [{"role": "assistant", "content": sentence} for sentence in sentences]
    long = {"input": " ".join(sentences), "output": " ".join(sentences), "context": sentences}
    return [{**sample, "id": "long", **long, "reference": sentences, "trajectory": {"steps": steps}}]
