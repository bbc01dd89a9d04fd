"""S2: a reply is bounded while it is read and while it is decompressed, whoever asks for it."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator

import pytest

from evalsi_kernel.broker.reply_body import BadEncoding, ReplyTooLarge, whole_reply
from tests.connectors.calling import KEY_VARIABLE
from tests.connectors.large_replies import serving

BOUND_S = 240.0
MAX_PEAK_KIB = 600 * 1024
"""The program itself takes a sixth of it; before there were bounds it took 1 GiB and more."""
TEXT = b"A reply of some length. " * 50_000


def gzipped(data: bytes) -> bytes:
    """Compress with a fixed time, so that every test process collects the same parameters."""
    return gzip.compress(data, mtime=0)


def body(content: bytes, encoding: str = "", limit_bytes: int = 2**22, step: int = 1000) -> bytes:
    """The whole body that comes in pieces."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(content), step):
            yield content[start : start + step]

    async def read() -> bytes:
        return await whole_reply(pieces(), encoding, limit_bytes)

    return asyncio.run(read())


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


def test_s2_no_reply_takes_more_memory_or_time_than_its_bounds() -> None:
    with serving() as port:
        ended = subprocess.run(
            [sys.executable, "-m", "tests.connectors.large_replies", str(port)],
            env={**os.environ, KEY_VARIABLE: "sk-test"},
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            check=False,
        )

    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    codes = told["codes"]
    assert {name: code for name, code in codes.items() if code not in EXPECTED[kind_of(name)]} == {}
    assert len(codes) == 32
    assert told["peak_kib"] < MAX_PEAK_KIB


def kind_of(name: str) -> str:
    if name.startswith(("target http", "target responses")):
        return "service"
    return name.rsplit(" ", maxsplit=1)[-1] if name.endswith(("drip", "lines", "members")) else "large"


EXPECTED = {
    "large": {"provider.too_large"},
    "service": {"target.output"},
    "drip": {"provider.timeout"},
    "members": {"provider.bad_reply"},
    # Empty lines are not rows; what exceeds the bound of the file is not read.
    "lines": {"provider.too_large"},
}


@pytest.mark.parametrize("step", [1, 1000, 10_000_000])
@pytest.mark.parametrize(
    ("encoding", "content"),
    [
        ("", TEXT[:5000]),
        ("identity", TEXT[:5000]),
        ("gzip", gzipped(TEXT)),
        ("x-gzip", gzipped(TEXT)),
        ("GZIP", gzipped(TEXT[:100]) + gzipped(TEXT[100:])),
        ("gzip", gzipped(TEXT) + bytes(8)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
    ],
)
def test_s2_a_reply_within_the_bounds_is_read_whole(encoding: str, content: bytes, step: int) -> None:
    if encoding in ("", "identity"):
        assert body(content, encoding, step=step) == content
    else:
        assert body(content, encoding, step=step) == TEXT


@pytest.mark.parametrize(("content", "encoding"), [(b"x" * 2000, ""), (gzipped(b"x" * 2000), "gzip")])
def test_s2_the_bound_itself_is_allowed(content: bytes, encoding: str) -> None:
    assert body(content, encoding, 2000) == b"x" * 2000
    with pytest.raises(ReplyTooLarge):
        body(content, encoding, 1999)


@pytest.mark.parametrize(
    ("encoding", "content"),
    [
        ("br", b"abc"),
        ("gzip, gzip", gzipped(gzipped(b"abc"))),
        ("gzip", b"abc"),
        ("gzip", gzipped(TEXT)[:-9]),
        ("deflate", zlib.compress(TEXT)[:-9]),
        ("gzip", gzipped(b"") * 1001),
    ],
)
def test_s2_what_cannot_be_decompressed_is_an_error(encoding: str, content: bytes) -> None:
    with pytest.raises(BadEncoding):
        body(content, encoding)
