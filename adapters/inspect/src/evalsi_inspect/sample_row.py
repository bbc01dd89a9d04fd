"""Convert a sample of a log to a row of a dataset, with Inspect's results as metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai.log import EvalSample, resolve_sample_attachments
from inspect_ai.scorer import Score

from evalsi_inspect.conversation import message_of, steps_of
from evalsi_inspect.log_fault import LogFault
from evalsi_inspect.plain_json import plain

# Most of a log's bytes; a record holds none of it.
_LEFT_OUT = ("events", "events_data", "timelines", "store")


def row_of(raw: dict[str, Any], eval_spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a sample.

    Args:
        raw: sample as in the log.
        eval_spec: key `eval` of the log's header.

    Raises:
        LogFault: this version of Inspect cannot read the sample.
    """
    sample = _sample(raw)
    epochs = (eval_spec.get("config") or {}).get("epochs") or 1
    row: dict[str, Any] = {
        "id": f"{sample.id}#{sample.epoch}" if epochs > 1 or sample.epoch > 1 else str(sample.id),
        "input": sample.input if isinstance(sample.input, str) else [message_of(message) for message in sample.input],
        "output": _output(sample),
        "reference": _reference(sample.target),
        "usage": _usage(sample, str(eval_spec.get("model", ""))),
        "metadata": _metadata(sample),
        "provenance": _provenance(sample, eval_spec),
    }
    steps = steps_of(sample.messages)
    # A single step is the output itself.
    if len(steps) > 1:
        row["trajectory"] = {"steps": steps}
    return {name: value for name, value in row.items() if value not in (None, {}, [])}


def _sample(raw: dict[str, Any]) -> EvalSample:
    kept = {name: value for name, value in raw.items() if name not in _LEFT_OUT}
    if isinstance(kept.get("transcript"), dict):  # In logs before 0.3.59; it holds the attachments.
        kept["transcript"] = {**kept["transcript"], "events": []}
    try:
        return resolve_sample_attachments(EvalSample.model_validate(kept), "core")
    except (ValueError, TypeError) as error:
        what = " ".join(str(error).split())
        raise LogFault(
            f"the sample {raw.get('id')!r} is none that Inspect can read: {what[:300]}",
            "Write the log anew with the Inspect that made it, or leave the sample out.",
        ) from error


def _output(sample: EvalSample) -> str | None:
    """Return the completion; "" where a limit ended the sample before there was one, and None after an error.

    Inspect scores a sample that a limit ended by its empty completion, so that it counts as incorrect.
    """
    if sample.output.choices:
        return str(sample.output.completion)
    return "" if sample.limit is not None and sample.error is None else None


def _reference(target: str | list[str]) -> Any:
    """Return the expected answers, or None if there are none, for which Inspect writes ""."""
    texts = [target] if isinstance(target, str) else target
    expected = [text for text in texts if text]
    return expected[0] if len(expected) == 1 else expected or None


def _usage(sample: EvalSample, model: str) -> dict[str, Any]:
    usage: dict[str, Any] = {}
    # Only the usage of the evaluated model counts, not that of its graders.
    if (taken := sample.model_usage.get(model)) is not None:
        usage = {
            "input_tokens": taken.input_tokens
            + (taken.input_tokens_cache_read or 0)
            + (taken.input_tokens_cache_write or 0),
            "output_tokens": taken.output_tokens,
            "total_tokens": taken.total_tokens,
            "cost_usd": taken.total_cost,
        }
    if sample.working_time is not None:
        usage["latency_ms"] = sample.working_time * 1000
    return {name: value for name, value in usage.items() if value is not None}


def _metadata(sample: EvalSample) -> dict[str, Any]:
    """Return the sample's own metadata and choices, with Inspect's results under `inspect`."""
    found = {
        "sample_id": sample.id,
        "epoch": sample.epoch,
        "scores": {name: _score(score) for name, score in (sample.scores or {}).items()},
        "error": sample.error.message if sample.error else None,
        "limit": sample.limit.type if sample.limit else None,
        "stop_reason": str(sample.output.stop_reason) if sample.output.choices else None,
        "output_error": sample.output.error,
        "invalidated": True if sample.invalidation else None,
    }
    shown = {name: plain(value) for name, value in found.items() if value not in (None, {})}
    choices = {"choices": sample.choices} if sample.choices else {}
    return {**choices, **plain(sample.metadata), "inspect": shown}


def _score(score: Score) -> dict[str, Any]:
    """Return a score of Inspect as JSON; the value of an unscored one is null."""
    parts = {"answer": score.answer, "explanation": score.explanation, "reason": score.reason}
    return {"value": plain(score.value), **{name: str(part) for name, part in parts.items() if part is not None}}


def _provenance(sample: EvalSample, eval_spec: Mapping[str, Any]) -> dict[str, Any]:
    names = ("task", "task_version", "model", "eval_id", "run_id", "created")
    known = {name: eval_spec[name] for name in names if eval_spec.get(name) not in (None, "")}
    return {"source": "inspect", **plain(known), **({"sample_uuid": sample.uuid} if sample.uuid else {})}
