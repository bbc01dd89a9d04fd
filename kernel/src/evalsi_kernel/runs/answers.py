"""What a target answered, or how it failed, as the log of a run keeps it.

It must not know how an answer came about, nor what it is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgpack

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.model_client import Spent
from evalsi_kernel.records.contents import MAX_NESTING, BadField, content, contexts, trajectory
from evalsi_kernel.records.unencodable import REFUSED, explain
from evalsi_kernel.records.usage import read_usage
from evalsi_kernel.target import Generated
from evalsi_protocol.errors import LocalMisuse, WireError
from evalsi_protocol.values import check_value

_COUNTS = (("input_tokens", "input"), ("output_tokens", "output"))
_FIELDS: Mapping[str, Callable[[Any], Any]] = {"context": contexts, "trajectory": trajectory, "usage": read_usage}


def answered(made: Generated, spent: Spent, latency_ms: float, room_bytes: int) -> dict[str, Any]:
    """An answer as the log keeps it; what it holds that cannot be a record's field becomes an error instead.

    Args:
        made: what the target answered.
        spent: what that took; what the target itself says of its cost goes before it.
        latency_ms: of the call that brought it.
        room_bytes: what the record has room for.
    """
    cost_usd = spent.cost_usd if made.cost_usd is None else made.cost_usd
    usage = {**_usage(made.tokens, cost_usd), "latency_ms": round(latency_ms, 3)}
    body: dict[str, Any] = {"usage": usage, "calls": spent.calls}
    try:
        body["output"] = content("" if made.output is None else made.output)
        if made.model:
            body["model"] = made.model
        if made.fallback:
            body["fallback"] = made.fallback
        if made.fields:
            body["fields"] = {name: _field(name, value) for name, value in made.fields.items()}
        if made.metadata:
            body["metadata"] = dict(made.metadata)
        read_usage(usage)
        check_value(body, max_depth=MAX_NESTING)
        size = len(msgpack.packb(body, use_bin_type=True))
        why = "" if size <= room_bytes else f"it takes {size / 2**20:,.0f} MiB, more than its record has room for"
    except BadField as bad:
        why = bad.message
    except LocalMisuse as bad:
        why = bad.error.message.rstrip(".")
    except REFUSED as error:
        why = explain(body, error)[0]
    return _failed(_unfit(why), spent.calls, _usage(made.tokens, cost_usd)) if why else body


def failed(error: WireError, spent: Spent) -> dict[str, Any]:
    """A failure as the log keeps it, with what it took all the same."""
    return _failed(error, spent.calls, _usage(spent.tokens, spent.cost_usd))


def _failed(error: WireError, calls: int, usage: Mapping[str, Any]) -> dict[str, Any]:
    return {"error": error.to_body(), "calls": calls, **({"usage": usage} if calls and usage else {})}


def _usage(tokens: Tokens, cost_usd: float | None) -> dict[str, Any]:
    """What is known of what was taken; what is unknown is not there."""
    counts = {name: count for name, key in _COUNTS if (count := getattr(tokens, key)) is not None}
    return counts if cost_usd is None else {**counts, "cost_usd": cost_usd}


def _field(name: str, value: Any) -> Any:
    reader = _FIELDS.get(name)
    if reader is None:
        raise BadField(f"it fills {name!r}, which is not a target's to fill", "")
    return reader(value)


def _unfit(why: str) -> WireError:
    return WireError(
        "target.output", f"The target's answer cannot be a record's output: {why}.", "Correct the target.", "provider"
    )
