"""Test that all blocking channels behave alike."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable

import pytest

from evalsi_protocol.channels import Channel, FdChannel, SocketChannel, memory_pair


def pipes() -> tuple[Channel, Channel]:
    (read_here, write_there), (read_there, write_here) = os.pipe(), os.pipe()
    return FdChannel(read_here, write_here), FdChannel(read_there, write_there)


def sockets() -> tuple[Channel, Channel]:
    here, there = socket.socketpair()
    return SocketChannel(here), SocketChannel(there)


every_channel = pytest.mark.parametrize("make", [pipes, sockets, memory_pair])


@every_channel
def test_bytes_arrive_in_order_however_many_they_are(make: Callable[[], tuple[Channel, Channel]]) -> None:
    here, there = make()
    sent = os.urandom(3_000_000)

    def write() -> None:
        here.write(sent[:1_000_000])
        here.write(b"")
        here.write(sent[1_000_000:])
        here.close()
        here.close()

    writer = threading.Thread(target=write)
    writer.start()
    received = bytearray()
    while data := there.read():
        received += data
    assert bytes(received) == sent
    assert there.read() == b""
    writer.join(10)
    there.close()


@pytest.mark.parametrize("make", [pipes, sockets])
def test_writing_to_a_peer_that_is_gone_says_so(make: Callable[[], tuple[Channel, Channel]]) -> None:
    here, there = make()
    if isinstance(there, FdChannel):
        os.close(there._read_fd)
    there.close()
    with pytest.raises(BrokenPipeError):
        here.write(b"x")
    here.close()


def test_a_socket_that_is_reset_reads_as_ended() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        channel = SocketChannel(listener.accept()[0])
    # Closing with a linger of zero resets the connection.
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.close()
    assert channel.read() == b""
    channel.close()
