"""The checks *running* and *items*: a pack reports the records in progress, and sends outcomes while it works."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from evalsi_conformance.behaving import SPARE
from evalsi_conformance.bench import Bench
from evalsi_conformance.findings import Fault, NotChecked
from evalsi_conformance.samples import Record
from evalsi_conformance.session import Session
from evalsi_protocol.errors import WireError

WORK_S: Final = 0.5
"""Minimum duration of a request for a meaningful check: ten times the maximum delay of items (ITM-5)."""
FEWEST_PAIRS, MOST_RECORDS, MOST_BYTES = 800, 12_800, 16_000_000
LATE: Final = 0.8
"""The first item is late if it arrives after this fraction of the work."""
HELD_S: Final = 5.0
PINGS: Final = 3
_HELD: Final = "Send items as they come, at the latest after 50 ms."
_IDLE: Final = "Name each record that is being scored; see PNG-1."


class Load(NamedTuple):
    """Records that keep a pack busy for a while.

    Args:
        records: records of one request.
        reading_s: seconds that the pack needs to read them.
        work_s: additional seconds to score them.
        first_s: seconds from the end of reading to the first item; None without items.
    """

    records: list[Record]
    reading_s: float
    work_s: float
    first_s: float | None


def running(bench: Bench) -> Iterator[Fault]:
    """The answer to a ping during scoring lists at least one record."""
    session = bench.shared()
    asking = _asking(bench)
    for number in asking:
        yield from _running_while_asking(bench, session, number)
    if len(asking) == len(bench.sessions):
        return
    load = _load(bench, session)
    if load is None:
        if not asking:
            raise NotChecked("its evaluators are too quick to be seen at work")
        return
    yield from _running_while_scoring(bench, session, load)


def items(bench: Bench) -> Iterator[Fault]:
    """Items are sent during a request, not only at its end."""
    session = bench.shared()
    asking = _asking(bench)
    for number in asking:
        yield from _items_while_asking(bench, session, number)
    if len(asking) == len(bench.sessions):
        return
    load = _load(bench, session)
    if load is None:
        if not asking:
            raise NotChecked("its evaluators are too quick to see whether items are held back")
        return
    # A busy machine may stall now and then: only what happens each time is the pack's doing.
    if _is_late(load) and all(_is_late(_measured(session, _quiet(bench), load.records)) for _ in range(2)):
        what = f"the first item of {len(load.records)} records came only when {LATE:.0%} of the work was done (ITM-5)."
        yield Fault(what, _HELD)


def _asking(bench: Bench) -> list[int]:
    return [n for n, one in enumerate(bench.subject.evaluators, 1) if one.get("asks")]


def _quiet(bench: Bench) -> list[int]:
    """Return the sessions of the evaluators that call no model."""
    return [n for n, one in enumerate(bench.subject.evaluators, 1) if not one.get("asks")]


def _running_while_asking(bench: Bench, session: Session, number: int) -> Iterator[Fault]:
    """Delay the answer to a question, so that its record is certainly in progress."""
    session.holds_asks = True
    try:
        request = session.begin("score", {"sessions": [number], "records": list(bench.subject.samples)})
        if session.wait_for_ask(request):
            said = session.ask("ping", {})
            named = [] if isinstance(said, WireError) else said.get("running")
            if problem := _form_fault(named, request, number, len(bench.subject.samples)):
                yield Fault(problem, _IDLE, bench.name_of(number))
            elif not named:
                what = "ping named no record while the answer to its question was awaited (PNG-1)."
                yield Fault(what, _IDLE, bench.name_of(number))
    finally:
        session.release_asks()
    session.answer_to(request)


def _running_while_scoring(bench: Bench, session: Session, load: Load) -> Iterator[Fault]:
    sessions = _quiet(bench)
    begun_s = time.monotonic()
    request = session.begin("score", {"sessions": sessions, "records": load.records})
    pairs = len(sessions) * len(load.records)
    idle = 0
    while not session.has_answer(request):
        before = len(session.items[request])
        sent_s = time.monotonic() - begun_s - load.reading_s
        said = session.ask("ping", {})
        if session.has_answer(request):
            break
        # In the middle of the work: by the clock, or since some items are there and others are not.
        by_clock = load.work_s / 4 < sent_s < load.work_s * 3 / 4
        at_work = by_clock or 0 < before <= len(session.items[request]) < pairs * 3 / 4
        named = [] if isinstance(said, WireError) else said.get("running")
        if problem := _form_fault(named, request, 0, len(load.records)):
            yield Fault(problem, _IDLE)
            break
        if named:
            idle = 0
            break
        idle += at_work
    session.answer_to(request)
    if idle >= PINGS:
        yield Fault(f"{idle} pings named no record while {len(load.records)} were being scored (PNG-1).", _IDLE)


def _form_fault(named: Any, request: int, session: int, count: int) -> str:
    """Return what is wrong with the form of `running`; "" where nothing is.

    Args:
        named: the value sent by the pack.
        request: id of the only open request.
        session: the only session of the request; 0 for several.
        count: number of records of the request.
    """
    if not isinstance(named, list):
        return f"ping was answered with running {named!r:.80}, which is no list."
    for one in named:
        if not isinstance(one, Mapping):
            return f"ping named {one!r:.80}, which is no map."
        index, ms = one.get("index"), one.get("ms")
        if one.get("request") != request or type(index) is not int or not 0 <= index < count:
            return f"ping named {dict(one)!r:.120}, which is no record of an open request."
        if type(one.get("session")) is not int or session not in (0, one["session"]):
            return f"ping named {dict(one)!r:.120}, whose session does not score."
        if not isinstance(ms, int | float) or isinstance(ms, bool) or ms < 0:
            return f"ping named {dict(one)!r:.120}, whose ms are no duration."
    return ""


def _items_while_asking(bench: Bench, session: Session, number: int) -> Iterator[Fault]:
    """Answer the questions about one record and hold those about the others back: its item has to come."""
    known = bench.score_samples(session)
    asked = [one for one in bench.subject.samples if (number, one["id"]) in session.judge.asked]
    asked = [one for one in asked if known.outcomes[number, one["id"]].kind in ("scored", "state")]
    if len(asked) < 2:
        return
    session.holds_asks, session.lets_through = True, asked[0]["id"]
    session.judge.asked.clear()
    try:
        request = session.begin("score", {"sessions": [number], "records": asked})
        if not session.wait_for_ask(request):
            session.release_asks()
            session.answer_to(request)
            return
        came = session.wait_for_items(request, 1, HELD_S)
        was_asked = (number, asked[0]["id"]) in session.judge.asked
    finally:
        session.release_asks()
    session.answer_to(request)
    if was_asked and not came:
        what = f"the item of a finished record was held back for {HELD_S:g} s while another one waited (ITM-5)."
        yield Fault(what, _HELD, bench.name_of(number))


def _load(bench: Bench, session: Session) -> Load | None:
    """Find a number of records that keeps the pack busy; None if it is too fast even for the maximum."""
    samples = bench.subject.samples
    size_bytes = max(len(json.dumps(one)) for one in samples)
    most = min(MOST_RECORDS, max(8, MOST_BYTES // size_bytes))
    count = min(most, max(8, FEWEST_PAIRS // len(bench.sessions)))
    while True:
        records = [{**samples[n % len(samples)], "id": f"load-{n}"} for n in range(count)]
        load = _measured(session, _quiet(bench), records)
        if _is_enough(load):
            return load
        if count >= most:
            return None
        count = min(most, count * 4)


def _measured(session: Session, sessions: list[int], records: list[Record]) -> Load:
    reading_s = 0.0
    for _ in range(2):
        begun_s = time.monotonic()
        # Refused as soon as it is read, since no such session is open.
        session.ask("score", {"sessions": [SPARE], "records": records})
        reading_s = max(reading_s, time.monotonic() - begun_s)
    begun_s = time.monotonic()
    request = session.begin("score", {"sessions": sessions, "records": records})
    session.answer_to(request)
    took_s = time.monotonic() - begun_s - reading_s
    first_s = session.first_item_s.get(request)
    session.items.pop(request)
    return Load(records, reading_s, took_s, None if first_s is None else first_s - begun_s - reading_s)


def _is_enough(load: Load) -> bool:
    """Whether the work took long enough, and much longer than the reading, whose time is only estimated."""
    return load.work_s >= max(WORK_S, 2 * load.reading_s)


def _is_late(load: Load) -> bool:
    return _is_enough(load) and load.first_s is not None and load.first_s > LATE * load.work_s
