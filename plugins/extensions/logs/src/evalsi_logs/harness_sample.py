"""A line of a samples file of lm-evaluation-harness as a row: the prompt, what was answered, all else as metadata.

What the harness wrote as text (targets, log-likelihoods) becomes what it was, as far as that is certain. It must not
know files.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from evalsi_kernel.records.sources import Row

_HASHES = ("doc_hash", "prompt_hash", "target_hash")
_ROLES = {"system", "user", "assistant", "tool"}


class NoSample(Exception):
    """A line that is no sample; the rest of a sentence."""


class _Request(NamedTuple):
    """What a model was asked: a prompt, and what for.

    Args:
        prompt: a text, or chat messages as JSON; of a whole document the document.
        continuation: whose likelihood was wanted; None where it was another's.
        is_document: whether the likelihood of the prompt itself was wanted.
    """

    prompt: str
    continuation: str | None
    is_document: bool


def row_of(sample: Mapping[str, Any], task: str) -> Row:
    """The row of a sample.

    Args:
        sample: the object of a line.
        task: whose file it is; "" where its name does not say.

    Raises:
        NoSample: the line is of another kind.
    """
    if "doc_id" not in sample or not isinstance(sample.get("resps"), list):
        raise NoSample("it has no doc_id and no resps, so it is none that --log_samples wrote")
    requests, resps = list(_requests(sample.get("arguments"))), sample["resps"]
    metadata: dict[str, Any] = {"doc": sample.get("doc"), "doc_id": sample["doc_id"]}
    row: Row = {"id": str(sample["doc_id"]), "metadata": metadata, "provenance": {"source": "lm-eval"}}
    if task:
        row["provenance"]["task"] = task
    if requests:
        row["input"] = _input(requests[0].prompt)
    if len(requests) > 1 and requests[0].continuation is not None:
        _chosen(row, requests, _likelihoods(resps), sample.get("target"))
    elif requests and (requests[0].is_document or requests[0].continuation is not None):
        metadata["loglikelihoods"] = _likelihoods(resps)
        row["reference"] = sample.get("target")
    else:
        _written(row, resps)
        row["reference"] = _target(sample.get("target"))
    metadata["lm_eval"] = _found_out(sample)
    row["metadata"] = {name: value for name, value in metadata.items() if value is not None}
    return {name: value for name, value in row.items() if value is not None}


def _written(row: Row, resps: list[Any]) -> None:
    """What a model wrote; of several answers the first is graded, and all are in the metadata."""
    responses = resps[0] if resps and isinstance(resps[0], list) else resps
    if responses:
        row["output"] = responses[0]
    if len(responses) > 1:
        row["metadata"]["responses"] = responses


def _chosen(row: Row, requests: list[_Request], likelihoods: list[Any] | None, target: Any) -> None:
    """What a model chose: the likeliest continuation of one prompt.

    Tasks that put their choices into the prompt (one continuation for all) leave the choice in the log-likelihoods.
    """
    metadata = row["metadata"]
    metadata["loglikelihoods"] = likelihoods
    half = len(requests) // 2
    measures_gain = len(requests) % 2 == 0 and [one.continuation for one in requests[:half]] == [
        one.continuation for one in requests[half:]
    ]
    if measures_gain and all(one.prompt == "" for one in requests[half:]):
        # Behind come the choices by themselves, for mutual information.
        requests = requests[:half]
    if likelihoods is None or len({one.prompt for one in requests}) > 1 or len(likelihoods) < len(requests):
        return
    texts = [one.continuation or "" for one in requests]
    if all(text.startswith(" ") for text in texts):
        # What a task puts between prompt and choice, unless it says otherwise.
        texts = [text[1:] for text in texts]
    metadata["choices"] = texts
    row["output"] = texts[max(range(len(texts)), key=lambda place: likelihoods[place][0])]
    gold = _gold(target, texts)
    if gold is not None:
        metadata["gold"] = gold
        row["reference"] = [texts[place] for place in gold] if isinstance(gold, list) else texts[gold]


def _gold(target: Any, choices: list[str]) -> int | list[int] | None:
    """The place of the right choice; None where the text of the target may mean one place or another."""
    read = _literal(target) if isinstance(target, str) else target
    if isinstance(read, list) and read and all(type(one) is int and 0 <= one < len(choices) for one in read):
        return read
    places = {read} if type(read) is int and 0 <= read < len(choices) else set()
    places |= {place for place, choice in enumerate(choices) if choice == target}
    return places.pop() if len(places) == 1 else None


def _target(target: Any) -> Any:
    """A target as a reference: the harness writes a list of right answers as Python would show it."""
    read = _literal(target) if isinstance(target, str) and target.startswith("[") else None
    return read if isinstance(read, list) and read and all(isinstance(one, str) for one in read) else target


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _requests(arguments: Any) -> Iterator[_Request]:
    """The requests of a sample: `gen_args_0` and so on, each with `arg_0` and `arg_1`; lists in older versions."""
    every = arguments.values() if isinstance(arguments, dict) else arguments if isinstance(arguments, list) else ()
    for given in every:
        values = list(given.values()) if isinstance(given, dict) else given
        if not isinstance(values, list) or not values:
            continue
        prompt, for_what = values[0], values[1] if len(values) > 1 else None
        # Chat prompts of the harness' models by API stand in a list of one.
        if isinstance(prompt, list) and len(prompt) == 1:
            (prompt,) = prompt
        yield _Request(str(prompt), for_what if isinstance(for_what, str) else None, for_what is None)


def _input(prompt: str) -> Any:
    """A prompt, or the chat messages that the harness wrote as JSON."""
    if prompt.startswith("[{"):
        try:
            messages = json.loads(prompt)
        except ValueError:
            return prompt
        if all(isinstance(one, dict) and one.get("role") in _ROLES and "content" in one for one in messages):
            return messages
    return prompt


def _likelihoods(resps: list[Any]) -> list[Any] | None:
    """`[log-likelihood, greedy]` of each request, of a document the number; None where one is no finite number."""
    found: list[Any] = []
    for responses in resps:
        first = responses[0] if isinstance(responses, list) and responses else responses
        is_pair = isinstance(first, list) and len(first) == 2
        value = _number(first[0] if is_pair else first)
        if value is None:
            return None
        found.append([value, str(first[1]) == "True"] if is_pair else value)
    return found or None


def _number(given: Any) -> float | None:
    try:
        value = float(given)
    except (TypeError, ValueError):
        return None
    return value if isfinite(value) else None


def _found_out(sample: Mapping[str, Any]) -> dict[str, Any]:
    """What the harness made of the sample: its scores, and what its filters let through."""
    metrics = sample.get("metrics")
    names = [name for name in metrics if name in sample] if isinstance(metrics, list) else []
    kept = {name: sample[name] for name in _HASHES if name in sample}
    scores = {name: sample[name] for name in names}
    return {"scores": scores, "filter": sample.get("filter"), "filtered": sample.get("filtered_resps"), **kept}
