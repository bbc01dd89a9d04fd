"""An item of a run: one record in one trial, and the record as evaluators see it once the target has answered.

It must not know how an answer came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgpack

from evalsi_kernel.contents import MAX_NESTING, BadField, content
from evalsi_kernel.intake import MAX_RECORD_BYTES
from evalsi_kernel.target import Generated
from evalsi_kernel.unencodable import REFUSED, explain
from evalsi_kernel.usage import read_usage
from evalsi_protocol.errors import LocalMisuse, WireError
from evalsi_protocol.values import check_value

_USAGE = (("input_tokens", "input"), ("output_tokens", "output"))


def answered(made: Generated, cost_usd: float | None, latency_ms: float, calls: int) -> dict[str, Any]:
    """An answer as the log keeps it; what it holds that cannot be a record's field becomes an error instead."""
    body: dict[str, Any] = {
        "output": _content(made.output),
        "usage": {
            **{name: count for name, key in _USAGE if (count := getattr(made.tokens, key)) is not None},
            **({} if cost_usd is None else {"cost_usd": cost_usd}),
            "latency_ms": round(latency_ms, 3),
        },
        "calls": calls,
    }
    for key, value in (("model", made.model), ("fields", dict(made.fields)), ("metadata", dict(made.metadata))):
        if value:
            body[key] = value
    try:
        read_usage(body["usage"])
        check_value(body, max_depth=MAX_NESTING)
        size = len(msgpack.packb(body, use_bin_type=True))
    except BadField as bad:
        return failed(_unfit(bad.message), calls)
    except LocalMisuse as bad:
        return failed(_unfit(bad.error.message.rstrip(".")), calls)
    except REFUSED as error:
        return failed(_unfit(explain(body, error)[0]), calls)
    if size > MAX_RECORD_BYTES // 2:
        return failed(_unfit(f"it takes {size / 2**20:.0f} MiB, more than a record may"), calls)
    return body


def failed(error: WireError, calls: int, cost_usd: float | None = None) -> dict[str, Any]:
    """A failure as the log keeps it, with what it took all the same."""
    return {"error": error.to_body(), "calls": calls, **({} if not cost_usd else {"usage": {"cost_usd": cost_usd}})}


def record_of_item(record: dict[str, Any], answer: Mapping[str, Any], trial: int) -> dict[str, Any]:
    """The record as it is scored and written into results: the answer in place of whatever output it had."""
    record.pop("output", None)
    record.pop("usage", None)
    record.update(answer.get("fields", {}))
    if "error" in answer:
        record["provenance"] = {**record.get("provenance", {}), "run": {"trial": trial, "error": answer["error"]}}
        return record
    record["output"] = answer["output"]
    record["usage"] = answer["usage"]
    told = {"trial": trial, **({"model": answer["model"]} if "model" in answer else {})}
    record["provenance"] = {**record.get("provenance", {}), "run": told}
    if "metadata" in answer:
        record["metadata"] = {**answer["metadata"], **record.get("metadata", {})}
    return record


def id_on_the_wire(record_id: str, trial: int, trials: int) -> str:
    """The id that tells the trials of a record apart while they are scored."""
    return record_id if trials == 1 else f"{record_id}#{trial}"


def _content(value: Any) -> Any:
    return content("" if value is None else value)


def _unfit(why: str) -> WireError:
    return WireError(
        "target.output", f"The target's answer cannot be a record's output: {why}.", "Mend the target.", "provider"
    )
