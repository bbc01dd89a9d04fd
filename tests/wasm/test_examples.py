"""The example packs read whatever a record holds, and conform to all that the kit for authors checks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.running import evalsi
from tests.protocol.kernel_end import KernelEnd
from tests.wasm.hosting import EXAMPLES, KIND, WORDS, hosting

TEXT = st.text(max_size=40) | st.sampled_from(["x" * size for size in (31, 32, 255, 256, 65_535, 65_536)])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=18) | st.dictionaries(st.text(max_size=5), inner, max_size=18),
    max_leaves=20,
)
COUNTS = {"characters": (KIND, len), "word-count": (WORDS, lambda text: len(text.split(" ")))}


@pytest.fixture(params=COUNTS)
def counting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[KernelEnd, Any]]:
    module, count = COUNTS[request.param]
    with hosting(module, tmp_path) as kernel:
        kernel.open(1, request.param)
        yield kernel, count


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(beside=st.lists(st.tuples(JSON, JSON), min_size=2, max_size=4))
def test_what_stands_beside_the_output_changes_no_score(
    beside: list[tuple[Any, Any]], counting: tuple[KernelEnd, Any]
) -> None:
    kernel, count = counting
    outputs = [f"answer number {number}" + " more" * number for number in range(len(beside))]
    records = [
        {"id": str(number), "input": one, "output": output, "metadata": {"what": other}}
        for number, (output, (one, other)) in enumerate(zip(outputs, beside, strict=True))
    ]
    _, items = kernel.score(records)
    assert [payload for _, _, _, payload in sorted(items)] == [[{"value": float(count(one))}] for one in outputs]


@pytest.mark.parametrize("name", ["words", "kind"])
def test_the_example_conforms_to_all_levels(name: str) -> None:
    done = evalsi("plugins", "check", EXAMPLES / name)
    assert f"acme/{name} conforms: loads, behaves, trustworthy." in done.out, done.out + done.err
    assert done.code == 0
