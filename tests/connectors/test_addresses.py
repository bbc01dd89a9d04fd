"""A base URL is taken as it is written, or refused with what to write."""

from __future__ import annotations

import pytest

from evalsi_connectors.address import Address, read_address
from evalsi_kernel.errors import ConfigError


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("http://localhost:8000/v1", "http://localhost:8000/v1/chat/completions"),
        ("http://localhost:8000/v1/", "http://localhost:8000/v1/chat/completions"),
        ("http://localhost:8000", "http://localhost:8000/chat/completions"),
        ("http://localhost:8000//", "http://localhost:8000/chat/completions"),
        ("HTTPS://Host.example/api/v2", "https://Host.example/api/v2/chat/completions"),
        (" http://[::1]:9/v1 ", "http://[::1]:9/v1/chat/completions"),
        ("https://h.example/d?api-version=1", "https://h.example/d/chat/completions?api-version=1"),
    ],
)
def test_a_path_is_put_behind_the_address_and_nothing_else(written: str, url: str) -> None:
    assert read_address(written, "").url("/chat/completions") == url


@pytest.mark.parametrize(
    "written",
    ["", "localhost:8000/v1", "ftp://host/v1", "http://", "http://host:port/v1", "http://[::1/v1", "http://h/#a"],
)
def test_what_is_no_address_is_refused_with_an_example(written: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_address(written, "")

    assert "http://localhost:8000/v1" in caught.value.hint


@pytest.mark.parametrize("endpoint", ["/chat/completions", "/chat/completions/", "/embeddings", "/messages"])
def test_the_address_of_one_endpoint_is_refused(endpoint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_address(f"http://localhost:8000/v1{endpoint}", "")

    assert endpoint.rstrip("/") in caught.value.hint


@pytest.mark.parametrize(
    ("written", "is_home"),
    [
        ("https://api.home.example/v1", True),
        ("https://API.home.example:443/v1", True),
        ("http://api.home.example/v1", False),
        ("https://api.home.example.evil.example/v1", False),
        ("https://evil.example/api.home.example", False),
    ],
)
def test_home_is_one_host_over_tls(written: str, is_home: bool) -> None:
    assert read_address(written, "api.home.example").is_home == is_home


def test_whether_there_is_a_path_is_told() -> None:
    assert read_address("http://h/", "") == Address("http://h", "", "h", has_path=False, is_home=False)
    assert read_address("http://h/v1", "").has_path
