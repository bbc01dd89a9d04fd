"""Test which modules `import evalsi` does not import, for a quick start of packs."""

from __future__ import annotations

import subprocess
import sys

import pytest

COSTLY = {
    "argparse",
    "asyncio",
    "concurrent.futures",
    "dataclasses",
    "evalsi.evaluation",
    "evalsi.host",
    "evalsi.loading",
    "evalsi.rehearsal",
    "evalsi.testing",
    "evalsi_kernel",
    "inspect",
    "logging",
    "msgpack",
    "numpy",
    "pandas",
    "pathlib",
    "socket",
    "subprocess",
    "threading",
    "tomllib",
    "traceback",
}


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    # Without site, so that nothing is counted that this installation loads for itself.
    command = [sys.executable, "-S", "-c", f"import sys; sys.path = {sys.path!r}; {code}"]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    return set(listed.stdout.split())


@pytest.mark.parametrize(
    "statement", ["import evalsi", "from evalsi import Record, Score, evaluator, Output, Param, Skip"]
)
def test_importing_the_sdk_loads_neither_a_host_nor_a_harness_nor_what_they_need(statement: str) -> None:
    assert loaded_by(statement) & COSTLY == set()


def test_every_public_name_is_there_when_it_is_used() -> None:
    loaded = loaded_by("import evalsi; [getattr(evalsi, name) for name in evalsi.__all__]")
    assert {"evalsi.evaluation", "evalsi.serving"} <= loaded
    assert "evalsi_kernel" not in loaded


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    import evalsi

    with pytest.raises(AttributeError, match="module 'evalsi' has no attribute 'evalute'"):
        evalsi.__getattr__("evalute")


def test_the_names_are_listed_for_whoever_looks_for_them() -> None:
    import evalsi

    assert {"evaluate", "serve", "Record"} <= set(dir(evalsi))
