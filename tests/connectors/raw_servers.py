"""Servers below HTTP: one that says given bytes to whoever asks, and one that takes no connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

BOUND_S = 60.0


@contextmanager
def said_raw(answer: bytes) -> Iterator[str]:
    """The base URL of a server that reads a request's head, says the bytes and hangs up, for each connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(BOUND_S)
        thread = threading.Thread(target=_serve, args=(listening, answer), daemon=True)
        thread.start()
        port = listening.getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1"
        # Wakes the thread from waiting for the next connection.
        with socket.create_connection(("127.0.0.1", port), BOUND_S) as last:
            last.sendall(b"STOP")
        thread.join(BOUND_S)
        assert not thread.is_alive()


def _serve(listening: socket.socket, answer: bytes) -> None:
    while True:
        connection, _ = listening.accept()
        with connection:
            connection.settimeout(BOUND_S)
            if _read_request(connection).startswith(b"STOP"):
                return
            connection.sendall(answer)
            # Hang up with a FIN behind the answer, and read what still comes: unread bytes would make it a reset.
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65_536):
                pass


def _read_request(connection: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head and not head.startswith(b"STOP"):
        piece = connection.recv(65_536)
        if not piece:
            break
        head += piece
    return head


@contextmanager
def closing() -> Iterator[str]:
    """The base URL of a port whose queue of connections is full, so that no other one is taken."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(listening.getsockname())
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            for one in waiting:
                one.close()
