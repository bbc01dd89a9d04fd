"""Addresses of services: three forms, and nothing without TLS that leaves this machine."""

from __future__ import annotations

import pytest

from evalsi_kernel.errors import UsageError
from evalsi_provisioning.addresses import Address, is_address, read_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("unix:///run/tone", Address("unix", path="/run/tone")),
        ("unix:///run/a b?c#d%20", Address("unix", path="/run/a b?c#d%20")),
        ("tcp://127.0.0.1:7700", Address("tcp", host="127.0.0.1", port=7700)),
        ("tcp://127.9.9.9:7700", Address("tcp", host="127.9.9.9", port=7700)),
        ("tcp://[::1]:7700", Address("tcp", host="::1", port=7700)),
        ("tcp://localhost:7700", Address("tcp", host="localhost", port=7700)),
        ("tls://packs.example.com:7700", Address("tls", host="packs.example.com", port=7700)),
        ("tls://[2001:db8::1]:7700", Address("tls", host="2001:db8::1", port=7700)),
    ],
)
def test_an_address_is_read_and_written_as_it_was(text: str, address: Address) -> None:
    assert is_address(text)
    assert read_address(text) == address
    assert str(address) == text


@pytest.mark.parametrize("host", ["packs.example.com", "10.0.0.7", "0.0.0.0", "[2001:db8::1]", "127.0.0.1.example.com"])
def test_an_address_that_leaves_the_machine_without_tls_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="leaves this machine") as caught:
        read_address(f"tcp://{host}:7700")
    assert caught.value.hint == f"Use TLS: tls://{host}:7700"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "unix://",
        "unix://relative/path",
        "unix:/run/tone",
        "tcp://127.0.0.1",
        "tcp://:7700",
        "tls://host:port",
        "tls://host:70000",
        "tls://host:7700/path",
        "tls://user@host:7700",
        "tls://host:7700#part",
        "tls://[::1:7700",
        "unix:///run/a\nb",
        "unix:///run/a\0b",
        "https://host:7700",
        "/run/tone",
    ],
)
def test_what_is_no_address_is_told_with_the_forms_that_there_are(text: str) -> None:
    with pytest.raises(UsageError, match="no address of a service") as caught:
        read_address(text)
    assert "unix:///PATH" in caught.value.hint


def test_a_path_that_no_socket_can_have_is_refused_before_it_is_tried() -> None:
    with pytest.raises(UsageError, match="longer than a socket's path may be"):
        read_address(f"unix:///{'x' * 200}")
