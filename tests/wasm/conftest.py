"""The mark that names the sentences of the ABI's page which a test holds."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "abi(*ids): sentences of docs/reference/wasm-abi.md that this test holds")
