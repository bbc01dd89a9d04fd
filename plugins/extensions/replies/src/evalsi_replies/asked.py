"""What was asked, read from a results file or from a file of an ask: the keys to look for in the cache.

It must not know the cache. Results files of other versions are read as far as they go.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.judge_key import judge_key
from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import ConfigError

_WHAT: dict[str, tuple[type | tuple[type, ...], str]] = {
    "identity": (dict, "an object of texts: provider, model, base_url"),
    "messages": (list, "a list of objects with role and content"),
    "schema": (dict, "an object"),
    "max_tokens": (int, "a whole number"),
    "temperature": ((int, float), "a number"),
    "seed": (int, "a whole number"),
    "effort": (str, "a text"),
    "sample": (int, "a whole number"),
}


class Asked(NamedTuple):
    """A key to look for.

    Args:
        digest: of the key, or its beginning.
        fields: the hashes of the key's parts; empty where the file does not tell them.
    """

    digest: str
    fields: Mapping[str, str]


def asked_in_file(path: Path) -> Asked:
    """The key of an ask: a JSON object with `identity`, `messages`, and whatever else of `Ask` is not its default.

    Raises:
        ConfigError: the file cannot be read, or is no ask; the message says which part.
    """
    ask = _json_object(path)
    for name, value in ask.items():
        if name not in _WHAT:
            raise ConfigError(
                f"{path}: an ask has no {name!r}.", f"{did_you_mean(name, _WHAT)} It has {', '.join(_WHAT)}.".strip()
            )
        kind, what = _WHAT[name]
        # True and false are whole numbers only to Python.
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise ConfigError(f"{path}: {name} is {_short(value)}.", f"Make it {what}.")
    given = {name: value for name, value in ask.items() if value is not None}
    if "messages" not in given or not all(isinstance(one, dict) for one in given["messages"]):
        raise ConfigError(f"{path}: messages are missing, or not all of them are objects.", "Write the messages.")
    identity = given.pop("identity", {})
    if not all(value is None or isinstance(value, str) for value in identity.values()):
        raise ConfigError(f"{path}: identity has a value that is no text.", "Give provider, model and base_url.")
    key = judge_key(identity, Ask(**given))
    return Asked(key.digest, key.fields)


def asked_in_results(path: Path, record_id: str, evaluator: str | None) -> list[Asked]:
    """The keys of what an evaluator asked about a record, in a results file.

    Args:
        path: of the file.
        record_id: of the record.
        evaluator: its name, or ref, in the results; None for all that asked.

    Raises:
        ConfigError: the file is no results file, has no such record or evaluator, or notes no question for them.
    """
    run = _json_object(path)
    results = _objects(run.get("results"))
    if not results:
        raise ConfigError(f"{path} holds no results.", "Name a file that `evalsi eval --output` wrote.")
    of_record = [one for one in results if str(one.get("record_id")) == record_id]
    if not of_record:
        ids = {str(one.get("record_id")) for one in results}
        raise ConfigError(f"{path} has no record {record_id!r}.", did_you_mean(record_id, ids))
    wanted = [one for one in of_record if evaluator is None or evaluator in _names(one)]
    if not wanted:
        names = dict.fromkeys(str(one.get("evaluator")) for one in of_record)
        raise ConfigError(f"{path} has no evaluator {evaluator!r}.", f"It has {', '.join(names)}.")
    replies = {one["ref"]: one for value in run.values() for one in _objects(value) if isinstance(one.get("ref"), str)}
    found = [asked for result in wanted for call in _calls(result) if (asked := _asked(call, replies)) is not None]
    if not found:
        who = "no evaluator asked one" if evaluator is None else f"{evaluator!r} asked none"
        raise ConfigError(
            f"{path} notes no question to a model for record {record_id!r}: {who} about it.",
            "Name a record and an evaluator that ask a model.",
        )
    return found


def _calls(result: Mapping[str, Any]) -> Iterable[Any]:
    calls = result.get("judge_calls")
    return calls if isinstance(calls, list) else ()


def _asked(call: Any, replies: Mapping[str, Mapping[str, Any]]) -> Asked | None:
    """The key of a call: a reference, or an object with one; what it lacks stands with the reply that it refers to."""
    told = call if isinstance(call, dict) else {"ref": call}
    told = {**replies.get(str(told.get("ref")), {}), **told}
    digest = told.get("key") or told.get("ref")
    fields = told.get("fields")
    return Asked(digest, fields if isinstance(fields, dict) else {}) if isinstance(digest, str) else None


def _names(result: Mapping[str, Any]) -> set[str]:
    reference = str(result.get("evaluator_ref"))
    return {str(result.get("evaluator")), reference, reference.rpartition("@")[0]}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _json_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.", "Name a file that can be read.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not JSON: {error}.", "Name a JSON file.") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path} holds {_short(value)}, which is no JSON object.", "Name a file of an object.")
    return value


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"
