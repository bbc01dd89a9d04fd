"""Machines that have exchanged `hello`."""

from __future__ import annotations

from evalsi_protocol.greeting import kernel_hello, pack_hello
from evalsi_protocol.limits import DEFAULT_WINDOW
from evalsi_protocol.machine import Machine, RequestReceived
from evalsi_protocol.methods import PACK_REQUESTS, Role


def pair(*, kernel_window: int = DEFAULT_WINDOW, pack_window: int = DEFAULT_WINDOW) -> tuple[Machine, Machine]:
    """A kernel and a pack, ready."""
    kernel, pack = Machine("kernel", window=kernel_window), Machine("pack", window=pack_window)
    kernel.request("hello", kernel_hello("kernel", "0", PACK_REQUESTS, window=kernel_window))
    (hello,) = pack.receive(kernel.data_to_send())
    assert isinstance(hello, RequestReceived)
    pack.respond(hello.id, pack_hello(1, "pack", "0", ["score"], window=pack_window))
    kernel.receive(pack.data_to_send())
    return kernel, pack


def greeted(role: Role) -> Machine:
    """One of the two."""
    return pair()[0 if role == "kernel" else 1]
