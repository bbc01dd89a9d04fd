"""The level *behaves*: every pair gets exactly one valid outcome, and every request is answered.

Each function is one check and yields its faults.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from evalsi_conformance.bench import Bench
from evalsi_conformance.findings import Fault, NotChecked
from evalsi_conformance.outcomes import Outcome, Scoring, form_faults, score, sort_items
from evalsi_conformance.samples import Record, odd_records, without
from evalsi_conformance.schema_values import misfits
from evalsi_conformance.session import Session
from evalsi_protocol.errors import WireError

MANY_PAIRS: Final = 800
PING_S: Final = 10.0
SPARE: Final = 1_000_000
"""A session id that is never opened."""
UNKNOWN_VALUES: Final[tuple[Any, ...]] = ("text", 1, 0.5, True, None, ["text"], {"text": "text"})
"""Values of every type, for an unknown param."""
CLOSED_TIMES: Final = 3


def answers(bench: Bench) -> Iterator[Fault]:
    """Every sample gets exactly one valid outcome from each evaluator, and the answer counts them."""
    scoring = bench.score_samples(bench.shared())
    yield from (Fault(fault, "See outcomes.md of the protocol.") for fault in scoring.faults)
    for number, whole in bench.wholes.items():
        name = bench.name_of(number)
        yield from (Fault(f"aggregate: {fault}", "", name) for fault in form_faults(whole))


def scores(bench: Bench) -> Iterator[Fault]:
    """Each evaluator scores at least one sample, so that the other checks are meaningful."""
    scoring = bench.score_samples(bench.shared())
    for number, evaluator in enumerate(bench.subject.evaluators, 1):
        outcomes = bench.wholes.get(number)
        found = [outcomes] if outcomes else list(scoring.of(number).values())
        if not any(one.kind == "scored" for one in found):
            seen = found[0].shown() if found else "no outcome"
            hint = "Ship records that it can score in samples.jsonl, or params and answers in conformance.toml."
            yield Fault(f"no sample was scored; the first one is {seen}.", hint, evaluator["name"])


def skips(bench: Bench) -> Iterator[Fault]:
    """A record without a field that the evaluator needs is skipped, with a reason that names the field."""
    session = bench.shared()
    known = bench.score_samples(session)
    for number, evaluator in enumerate(bench.subject.evaluators, 1):
        scorable = [one for one in bench.subject.samples if _was_used(known.outcomes.get((number, one["id"])))]
        if not scorable:
            continue
        needs = evaluator.get("needs", [])
        records = [without(scorable[0], need, f"without {need}") for need in needs]
        records += [
            without(scorable[0], need.partition(".")[0], f"without all of {need}") for need in needs if "." in need
        ]
        if needs:
            records.append({"id": "without anything"})
        found = score(session, [number], records)
        for record_id, outcome in found.of(number).items():
            need = record_id.rpartition(" ")[2]
            if outcome.kind != "skipped":
                hint = "Answer skipped; a record that cannot be judged is never a number."
                yield Fault(f"a record {record_id} is {outcome.shown()}, not skipped (OUT-2).", hint, evaluator["name"])
            elif need in needs and not _names(outcome, need):
                what = f"the reason of a record {record_id} is {_reason(outcome)!r:.80}."
                yield Fault(what, f"Name {need} in it.", evaluator["name"])


def params(bench: Bench) -> Iterator[Fault]:
    """A param that is unknown, of the wrong type or out of range is rejected with `config.param`."""
    session = bench.shared()
    for evaluator in bench.subject.evaluators:
        schema = evaluator.get("params", {})
        right = bench.subject.params_of(evaluator)
        wrong: list[dict[str, Any]] = []
        # As the kernel reads it: a schema that does not speak of other params allows none.
        if schema.get("additionalProperties", False) is False:
            wrong += [{**right, "evalsi_conformance_unknown": value} for value in UNKNOWN_VALUES]
        for name, part in schema.get("properties", {}).items():
            wrong += [{**right, name: value} for value in misfits(part)]
        wrong += [{key: value for key, value in right.items() if key != name} for name in schema.get("required", ())]
        for given in wrong:
            answer = session.ask("open", {"session": SPARE, "evaluator": evaluator["name"], "params": given})
            code = answer.code if isinstance(answer, WireError) else "success"
            if code != "config.param":
                what = f"open with {given!r:.160} was answered with {code}, not with config.param (OPN-1)."
                yield Fault(what, "Check params against their schema before you open.", evaluator["name"])
            if not isinstance(answer, WireError):
                session.ask("close", {"session": SPARE})


def refusals(bench: Bench) -> Iterator[Fault]:
    """Invalid requests are rejected with the code of the specification and have no other effect."""
    session = bench.shared()
    first = bench.subject.evaluators[0]
    sample = list(bench.subject.samples[:1])
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("open", {"session": SPARE, "evaluator": "evalsi-conformance-none", "params": {}}, "config.unknown_evaluator"),
        ("open", bench.opening(1, first), "protocol.session"),
        ("score", {"sessions": [SPARE], "records": sample}, "protocol.session"),
        ("open", {"session": SPARE}, "protocol.body"),
        ("score", {"sessions": [1]}, "protocol.body"),
    ]
    for method, body, code in wrong:
        answer = session.ask(method, body)
        got = answer.code if isinstance(answer, WireError) else "success"
        if got != code:
            yield Fault(f"{method} with {body!r:.120} was answered with {got}, not with {code}.", "See methods.md.")


def odd(bench: Bench) -> Iterator[Fault]:
    """Unusual records get one outcome each and do not affect other records."""
    session = bench.shared()
    known = bench.score_samples(session)
    # In one request with the samples, so that one odd record cannot cost the others theirs (SCO-4).
    beside = [*odd_records(), *bench.subject.samples]
    found = score(session, bench.sessions, beside, per_request=len(beside))
    yield from (Fault(fault, "Answer each record, with skipped or error if need be.") for fault in found.faults)
    yield from changed(bench, known, found, "beside odd records")


def cancel(bench: Bench) -> Iterator[Fault]:
    """A cancelled request is answered once, and the session continues."""
    session = bench.shared()
    known = bench.score_samples(session)
    many = _many(bench)
    request = session.begin("score", {"sessions": list(bench.sessions), "records": many})
    session.cancel(request)
    answer = session.answer_to(request)
    if isinstance(answer, WireError) and answer.code != "protocol.cancelled":
        yield Fault(f"a cancelled score was answered with {answer.code}: {answer.message}", "See CAN-2.")
    scoring = Scoring({}, [])
    sort_items(scoring, session.items.pop(request), bench.sessions, many)
    yield from (Fault(fault) for fault in scoring.faults)
    session.cancel(request)
    found = score(session, bench.sessions, bench.subject.samples)
    yield from changed(bench, known, found, "after a cancelled request")


def ping(bench: Bench) -> Iterator[Fault]:
    """`ping` is answered while the pack works, and while it waits for a judge."""
    session = bench.shared()
    yield from _ping_while_asking(bench, session)
    requests = [
        session.begin("score", {"sessions": list(bench.sessions), "records": _many(bench)})
        for _ in range(min(2, session.window))
    ]
    begun_s = time.monotonic()
    said = session.ask("ping", {})
    if isinstance(said, WireError) or not isinstance(said.get("running"), list):
        yield Fault(f"ping was answered with {said!r:.120}.", "Answer {running: [...]}; see PNG-1.")
    elif (took_s := time.monotonic() - begun_s) > PING_S:
        yield Fault(f"ping was answered after {took_s:.0f} s of work.", "Read on while you work (WIN-4).")
    for request in requests:
        session.answer_to(request)


def close(bench: Bench) -> Iterator[Fault]:
    """A closed session no longer scores, and its id can be opened again with any evaluator (CLO-1)."""
    session = bench.shared()
    known = bench.score_samples(session)
    for number, evaluator in enumerate(bench.subject.evaluators, 1):
        name = str(evaluator["name"])
        for time_opened in range(CLOSED_TIMES):
            opened = session.ask("open", bench.opening(SPARE, evaluator))
            if isinstance(opened, WireError):
                what = f"open of a session that was closed was answered with {opened.code} (CLO-1)."
                yield Fault(what, "Free the session's number when it is closed.", name)
                break
            if time_opened == 0:
                found = score(session, [SPARE], bench.subject.samples)
                moved = {(number, record): outcome for (_, record), outcome in found.outcomes.items()}
                yield from changed(bench, known, Scoring(moved, []), "in a second session")
            closed = session.ask("close", {"session": SPARE})
            if isinstance(closed, WireError):
                yield Fault(f"close was answered with {closed.code}: {closed.message}", "Answer {}.", name)
                return
            gone: dict[str, dict[str, Any]] = {
                "score": {"sessions": [SPARE], "records": list(bench.subject.samples[:1])},
                **({"aggregate": {"session": SPARE, "states": []}} if number in bench.datasets else {}),
            }
            for method, body in gone.items():
                answer = session.ask(method, body)
                code = answer.code if isinstance(answer, WireError) else "success"
                if code != "protocol.session":
                    what = f"{method} in a closed session was answered with {code}, not with protocol.session (CLO-1)."
                    yield Fault(what, "Forget the session when it is closed.", name)
                    return


def changed(bench: Bench, known: Scoring, found: Scoring, when: str) -> Iterator[Fault]:
    """Return the samples whose verdict changed."""
    for (number, record_id), outcome in known.outcomes.items():
        now = found.outcomes.get((number, record_id))
        if now is not None and now.verdict() != outcome.verdict():
            what = f"the record {record_id} was {outcome.shown()}, and is {now.shown()} {when}."
            yield Fault(what, "Let nothing but the record and the params decide.", bench.name_of(number))


def _ping_while_asking(bench: Bench, session: Session) -> Iterator[Fault]:
    asking = [n for n, one in enumerate(bench.subject.evaluators, 1) if one.get("asks")]
    if not asking:
        return
    session.holds_asks = True
    try:
        request = session.begin("score", {"sessions": asking, "records": list(bench.subject.samples)})
        if session.wait_for_ask(request):
            said = session.ask("ping", {})
            if isinstance(said, WireError):
                yield Fault(f"ping while a judge is asked was answered with {said.code}.", "See PNG-1.")
    finally:
        session.release_asks()
    session.answer_to(request)


def _many(bench: Bench) -> list[Record]:
    samples = bench.subject.samples
    count = max(8, MANY_PAIRS // len(bench.sessions))
    return [{**samples[n % len(samples)], "id": f"many-{n}"} for n in range(count)]


def _was_used(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.kind in ("scored", "state")


def _names(outcome: Outcome, need: str) -> bool:
    return need.partition(".")[0] in _reason(outcome)


def _reason(outcome: Outcome) -> str:
    return str(outcome.payload.get("reason", "")) if isinstance(outcome.payload, Mapping) else ""


def has_evaluators_that_ask(bench: Bench) -> None:
    """Raise `NotChecked` if no evaluator calls a judge or an embedding model."""
    if not any(one.get("asks") for one in bench.subject.evaluators):
        raise NotChecked("no evaluator asks for a judge")
