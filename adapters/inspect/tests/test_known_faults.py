"""E15: what the README says of faults of Inspect's own scorers still holds, so that it goes when they do."""

from __future__ import annotations

import pytest
from adapters.inspect.tests.cases import evaluator

from evalsi import Record
from evalsi.testing import Bench


@pytest.mark.parametrize(
    ("output", "reference", "inspect_says"),
    [("19/5", "3 4/5", False), ("1e-30", "2e-30", True), ("1e-11", "9e-11", True)],
)
def test_e15_inspect_s_math_is_wrong_as_the_readme_says(output: str, reference: str, inspect_says: bool) -> None:
    record = Record(output=output, reference=reference)
    # On a busy machine two seconds may not be enough to read an expression, which is an error.
    assert Bench().score(evaluator("math"), record, timeout=60.0).passed is inspect_says
