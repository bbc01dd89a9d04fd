"""A pack in a thread of this process may outlive the loop that it talked to."""

from __future__ import annotations

import asyncio

import pytest

from evalsi_kernel.supervision.transports import MemoryTransport


def test_a_pack_that_outlives_the_kernels_loop_can_close_its_end_but_no_longer_write() -> None:
    async def open_one() -> MemoryTransport:
        return MemoryTransport()

    channel = asyncio.run(open_one()).pack_channel
    with pytest.raises(BrokenPipeError, match="loop is closed"):
        channel.write(b"late")
    channel.close()
    channel.close()
