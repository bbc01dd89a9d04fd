"""What makes two model calls the same: the content address under which a reply is kept.

It must not know where replies are kept. The bytes that are hashed are msgpack, made canonical here.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

import msgpack

from evalsi_kernel.broker.ask import Ask

# A part of every key: raise it when a key's bytes change, so that no older reply is found under a new key.
FORMAT = 1
# So many messages have a field of their own; those after share one, that the fields of a long talk stay few.
MAX_MESSAGE_FIELDS = 16

_FIELD_BYTES = 4
_EXACT_IN_FLOAT = 2**53
_BIG_INTEGER = 1


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
    packer = msgpack.Packer(unicode_errors="surrogatepass")

    def packed(value: Any) -> bytes:
        return bytes(packer.pack(_canonical(value)))

    parts = {"format": packed(FORMAT)}
    parts |= {f"identity.{name}": packed(identity[name]) for name in sorted(identity) if identity[name] is not None}
    messages = list(ask.messages)
    parts |= {f"messages.{place}": packed(message) for place, message in enumerate(messages[:MAX_MESSAGE_FIELDS])}
    if rest := messages[MAX_MESSAGE_FIELDS:]:
        parts["messages.rest"] = packed(rest)
    for name in ("schema", "max_tokens", "temperature", "seed", "effort", "sample"):
        value = getattr(ask, name)
        if value is not None:
            parts[name] = packed(value)

    hashed = sha256(packer.pack_map_header(len(parts)))
    for name, part in parts.items():
        hashed.update(packed(name))
        hashed.update(part)
    fields = {name: blake2b(part, digest_size=_FIELD_BYTES).hexdigest() for name, part in parts.items()}
    return JudgeKey(hashed.hexdigest(), fields, identity.get("model") or "")


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The names of the parts in which two keys differ, those that only one of them has among them."""
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


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
