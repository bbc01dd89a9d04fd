"""A reply as the bytes that are kept of it, with a checksum: a reply that rotted on a disk must not become a score.

It must not know where the bytes lie.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import msgpack

from evalsi_kernel.broker.ask import Reply, Tokens

_CHECKSUM_BYTES = 4


class DamagedReply(Exception):
    """The bytes are not those that were written."""


def reply_to_bytes(reply: Reply) -> bytes:
    """The bytes to keep."""
    values = [reply.text, reply.finish, list(reply.tokens), reply.model, reply.provider_id, reply.form]
    packed: bytes = msgpack.packb(values, unicode_errors="surrogatepass")
    return crc32(packed).to_bytes(_CHECKSUM_BYTES, "big") + packed


def reply_from_bytes(kept: bytes) -> Reply:
    """The reply that was kept; raises `DamagedReply`."""
    packed = kept[_CHECKSUM_BYTES:]
    if crc32(packed) != int.from_bytes(kept[:_CHECKSUM_BYTES], "big"):
        raise DamagedReply
    text, finish, tokens, model, provider_id, form = _unpacked(packed)
    return Reply(text, finish, Tokens(*tokens), model, provider_id, form)


def _unpacked(packed: bytes) -> Any:
    try:
        return msgpack.unpackb(packed, unicode_errors="surrogatepass")
    except ValueError as error:
        raise DamagedReply from error
