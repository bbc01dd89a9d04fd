"""From the log of a run to its numbers: every item in order, whenever and in whatever order it was done.

The same log always gives the same numbers. It must not know how an item was done, nor what a gate asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgpack

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.ledger import Entry, Ledger
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.records.chunks import Chunk, Outcome
from evalsi_kernel.runs.items import Items
from evalsi_kernel.runs.manifest import ReplyEnd, TargetUsage, reply_end
from evalsi_kernel.runs.progress import Progress
from evalsi_protocol.frames import Packed

if TYPE_CHECKING:
    from evalsi_kernel.broker.broker import Broker

ITEMS_AT_ONCE = 256
_NOT_REACHED: Outcome = ("cancelled", {"reason": "the run ended before it was done"})


def entries_of(scored: Mapping[str, Any]) -> Iterator[tuple[int, Entry]]:
    """What an item's evaluations asked of models, or what was broken off, as it was written down: session and entry."""
    for session, entries in scored.get("asked", {}).items():
        for ref, tokens, cost_usd, calls, cached, failed in entries:
            yield session, Entry(ref, Tokens(*tokens), cost_usd, calls, cached, failed)


def folded(
    progress: Progress, items: Items, instances: Sequence[Instance], *, broker: Broker | None, usage: TargetUsage
) -> Iterator[tuple[Chunk, list[dict[str, Any]], list[ReplyEnd | None]]]:
    """Yield the items of a run in order, a few hundred at a time: answered chunks, records, and how replies ended.

    The ledger of the broker is begun anew, and booked with what the log says; `usage` gets what the target took.
    """
    for failure in progress.replaced():
        usage.add(failure)
    for note in progress.notes:
        if note["note"] == "check":
            usage.add(note["answer"])
    if broker is not None:
        broker.ledger = Ledger()
        for session, entry in chain.from_iterable(map(entries_of, progress.notes)):
            broker.ledger.book(session, "", entry)
    sessions = [instance.session for instance in instances]
    for start in range(0, len(items), ITEMS_AT_ONCE):
        some = range(start, min(start + ITEMS_AT_ONCE, len(items)))
        answers = [progress.generated(item) for item in some]
        bodies = [progress.scored(item) for item in some]
        for answer in filter(None, answers):
            usage.add(answer)
        given = [items.record(item, answer) for item, answer in zip(some, answers, strict=True)]
        outcomes = [_outcomes(answer, scored, sessions) for answer, scored in zip(answers, bodies, strict=True)]
        record_ids = [record["id"] for record in given]
        ids = [*map(items.id_on_the_wire, some, record_ids)]
        chunk = Chunk(
            Packed(msgpack.packb(given, use_bin_type=True)),
            ids,
            list(some),
            items.clusters(some, given),
            record_ids=record_ids,
            trials=[*map(items.trial, some)],
        )
        chunk.columns = {session: [of_item[session] for of_item in outcomes] for session in sessions}
        for index, scored in enumerate(bodies):
            for session, ms in (scored or {}).get("durations", {}).items():
                chunk.durations.setdefault(session, {})[index] = ms
        if broker is not None:
            for scored, record_id in zip(bodies, ids, strict=True):
                for session, entry in entries_of(scored or {}):
                    broker.ledger.book(session, record_id, entry)
        yield chunk, given, [reply_end(answer or {}) for answer in answers]


def _outcomes(
    answer: Mapping[str, Any] | None, scored: Mapping[str, Any] | None, sessions: Sequence[int]
) -> Mapping[int, Outcome]:
    if scored is not None:
        return {session: tuple(outcome) for session, outcome in scored["outcomes"].items()}
    outcome = ("error", answer["error"]) if answer is not None and "error" in answer else _NOT_REACHED
    return dict.fromkeys(sessions, outcome)
