"""What makes two model calls the same: the content address under which a reply is kept.

It must not know where replies are kept. The bytes that are hashed are msgpack, made canonical here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

import msgpack

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.by_content import once_by_content

# A part of every key: raise it when a key's bytes change, so that no older reply is found under a new key.
FORMAT = 1
# So many messages have a field of their own; those after share one, that the fields of a long talk stay few.
MAX_MESSAGE_FIELDS = 16

_FIELD_BYTES = 4
_SETTINGS = ("schema", "max_tokens", "temperature", "seed", "effort", "sample")
_EXACT_IN_FLOAT = 2**53
_BIG_INTEGER = 1
_packer = partial(msgpack.Packer, unicode_errors="surrogatepass")


class _Part(NamedTuple):
    """Some of what a key is made of, packed, and the short hash of each value by its name."""

    packed: bytes
    fields: Mapping[str, str]


class JudgeKey(NamedTuple):
    """The address of a reply.

    Args:
        digest: SHA-256 of all that shapes the reply, in hexadecimal digits.
        fields: a short hash of each part by its name, such as "identity.model", "messages.0" or "temperature"; two keys
            differ in the parts whose hashes do.
        model: the model as the identity names it, by which replies are counted and pruned.
    """

    digest: str
    fields: Mapping[str, str]
    model: str = ""


def judge_key(identity: Mapping[str, str], ask: Ask) -> JudgeKey:
    """The key of an ask of a model.

    The order of an object's keys does not matter, and 1 and 1.0 are one number, as in JSON. What is None in an ask or
    an identity counts as left out; null inside of a schema or a message is a value like another.

    Args:
        identity: what tells the model from another, as its connector says.
        ask: the exact question.
    """
    settings = ask.schema, ask.max_tokens, ask.temperature, ask.seed, ask.effort, ask.sample
    before, after = _settings_parts((tuple(identity.items()), settings))
    parts = [before, *_messages_parts(ask.messages), after]
    fields = {name: field for part in parts for name, field in part.fields.items()}
    packed = b"".join([_packer().pack_map_header(len(fields)), *(part.packed for part in parts)])
    return JudgeKey(sha256(packed).hexdigest(), fields, identity.get("model") or "")


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The names of the parts in which two keys differ, those that only one of them has among them."""
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


@once_by_content
def _settings_parts(settings: tuple[tuple[tuple[str, str], ...], tuple[Any, ...]]) -> tuple[_Part, _Part]:
    """The parts before and after the messages, which are the same for most questions of a run."""
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


# What a system message says is mostly the same for all questions of an evaluator.
_known_part = once_by_content(_part)


def _canonical(value: Any) -> Any:
    """The same value with its keys in order and one form for each number."""
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: _canonical(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_canonical(one) for one in value]
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_IN_FLOAT:
        return int(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        # msgpack has no such integer.
        return msgpack.ExtType(_BIG_INTEGER, str(value).encode())
    return value
