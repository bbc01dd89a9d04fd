"""A reply as the bytes that are kept of it, with a checksum: a reply that rotted on a disk must not become a score.

It must not know where the bytes lie.
"""

from __future__ import annotations

from zlib import crc32

import msgpack

from evalsi_kernel.broker.ask import Reply, Tokens

_CHECKSUM_BYTES = 4


class DamagedReply(Exception):
    """The bytes are not those that were written."""


def reply_to_bytes(digest: str, reply: Reply) -> bytes:
    """The bytes to keep under a key's digest."""
    values = [reply.text, reply.finish, list(reply.tokens), reply.model, reply.provider_id, reply.form]
    packed: bytes = msgpack.packb(values, unicode_errors="surrogatepass")
    return _checksum(digest, packed) + packed


def reply_from_bytes(digest: str, kept: bytes) -> Reply:
    """The reply that was kept under the digest; raises `DamagedReply`."""
    packed = kept[_CHECKSUM_BYTES:]
    if _checksum(digest, packed) != kept[:_CHECKSUM_BYTES]:
        raise DamagedReply
    text, finish, tokens, model, provider_id, form = msgpack.unpackb(packed, unicode_errors="surrogatepass")
    return Reply(text, finish, Tokens(*tokens), model, provider_id, form)


def _checksum(digest: str, packed: bytes) -> bytes:
    # Of the digest too: damage to an index can lead to the reply of another key.
    return crc32(packed, crc32(digest.encode())).to_bytes(_CHECKSUM_BYTES, "big")
