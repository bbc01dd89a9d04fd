"""The marker that links a test to sentences of the specification."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "spec(*ids): sentences of protocol/spec that this test holds; see traceability.py"
    )
