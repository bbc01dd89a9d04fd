"""The mark that names the sentences of the specification which a test holds."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "spec(*ids): sentences of protocol/spec that this test holds; see traceability.py"
    )
