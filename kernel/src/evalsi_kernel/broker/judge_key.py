"""Compute the content address of a model call, under which its reply is cached: a hash of canonical msgpack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

import msgpack

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.by_content import once_by_content

# Part of every key. Raise it when the bytes of a key change, so that no older reply is found under a new key.
FORMAT = 1
# Number of messages with a field of their own; the rest share one, to bound the fields of a long conversation.
MAX_MESSAGE_FIELDS = 16

_FIELD_BYTES = 4
_SETTINGS = ("schema", "max_tokens", "temperature", "seed", "effort", "sample")
_EXACT_IN_FLOAT = 2**53
_BIG_INTEGER = 1
_packer = partial(msgpack.Packer, unicode_errors="surrogatepass")


class _Part(NamedTuple):
    """A packed part of a key, and the short hash of each of its values by name."""

    packed: bytes
    fields: Mapping[str, str]


class JudgeKey(NamedTuple):
    """The address of a cached reply.

    Args:
        digest: SHA-256 of everything that determines the reply, in hexadecimal digits.
        fields: short hash of each part by its name, such as "identity.model", "messages.0" or "temperature". It shows
            in which parts two keys differ.
        model: the model's name, by which cached replies are counted and pruned.
    """

    digest: str
    fields: Mapping[str, str]
    model: str = ""


def judge_key(identity: Mapping[str, str], ask: Ask) -> JudgeKey:
    """Return the key of a request to a model.

    The order of an object's keys does not matter, and 1 and 1.0 are the same number, as in JSON. None in a request or
    an identity counts as absent; null inside of a schema or a message is an ordinary value.

    Args:
        identity: identity of the model, from its connector.
        ask: the request.
    """
    settings = ask.schema, ask.max_tokens, ask.temperature, ask.seed, ask.effort, ask.sample
    before, after = _settings_parts((tuple(identity.items()), settings))
    parts = [before, *_messages_parts(ask.messages), after]
    fields = {name: field for part in parts for name, field in part.fields.items()}
    packed = b"".join([_packer().pack_map_header(len(fields)), *(part.packed for part in parts)])
    return JudgeKey(sha256(packed).hexdigest(), fields, identity.get("model") or "")


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return the names of the parts in which two keys differ, including those that only one of them has."""
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


@once_by_content
def _settings_parts(settings: tuple[tuple[tuple[str, str], ...], tuple[Any, ...]]) -> tuple[_Part, _Part]:
    """Return the parts before and after the messages, which are equal for most questions of a run."""
    identity, of_ask = settings
    before = {"format": FORMAT} | {f"identity.{name}": value for name, value in sorted(identity)}
    return _part(before), _part(dict(zip(_SETTINGS, of_ask, strict=True)))


def _messages_parts(messages: Sequence[Mapping[str, str]]) -> Iterator[_Part]:
    for place, message in enumerate(messages[:MAX_MESSAGE_FIELDS]):
        part = {f"messages.{place}": message}
        yield _known_part(part) if message.get("role") == "system" else _part(part)
    if rest := messages[MAX_MESSAGE_FIELDS:]:
        yield _part({"messages.rest": rest})


def _part(values: Mapping[str, Any]) -> _Part:
    packed, fields = b"", {}
    for name, value in values.items():
        if value is not None:
            content = _packer().pack(_canonical(value))
            packed += _packer().pack(name) + content
            fields[name] = blake2b(content, digest_size=_FIELD_BYTES).hexdigest()
    return _Part(packed, fields)


# Most questions of an evaluator share their system message.
_known_part = once_by_content(_part)


def _canonical(value: Any) -> Any:
    """Return the value with sorted keys and one representation of each number."""
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: _canonical(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_canonical(one) for one in value]
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_IN_FLOAT:
        return int(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        # msgpack has no integers of this size.
        return msgpack.ExtType(_BIG_INTEGER, str(value).encode())
    return value
