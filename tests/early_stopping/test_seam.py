"""The kernel and the test behind early stopping know each other by a hook alone; a run without it is told at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalsi_early_stopping.following import FollowedGates
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.extensions.hook_calls import stopping_rule
from evalsi_kernel.extensions.installed import default_extensions
from tests.kernel.gates.gate_parts import gate
from tests.providers import Provider, fixed
from tests.runs.running import executed, model_of, write_spec

GATES = [{"metric": "exact-match", "min": 0.4}]


@pytest.fixture
def vendor() -> Any:
    with Provider(fixed("Lisbon")) as provider:
        yield provider


def test_the_kernel_finds_the_test_by_its_hook() -> None:
    rule = stopping_rule(default_extensions())
    test = rule([gate(min=0.5)], {"a": (0.0, 1.0)}, records=10, trials=1, error_rate=0.05)

    assert isinstance(test, FollowedGates)
    assert (test.obstacle, test.is_decided, test.decisions) == (None, False, [None])


def test_a_run_that_shall_stop_early_is_refused_without_the_extension_before_anything_is_asked(
    tmp_path: Path, vendor: Provider
) -> None:
    write_spec(tmp_path, model_of(vendor), gates=GATES, stop_when_decided=True)

    with pytest.raises(ConfigError, match="No installed extension supports early stopping") as caught:
        executed(tmp_path, without="early-stopping")

    assert caught.value.code == "config.no_extension"
    assert caught.value.hint == "Install it: pip install 'evalsi-early-stopping'"
    assert (vendor.calls, (tmp_path / ".evalsi").exists()) == (0, False)


@pytest.mark.parametrize("keys", [{"gates": GATES}, {"stop_when_decided": True}])
def test_a_run_that_cannot_stop_early_does_not_need_it(tmp_path: Path, vendor: Provider, keys: dict[str, Any]) -> None:
    write_spec(tmp_path, model_of(vendor), **keys)

    assert executed(tmp_path, without="early-stopping").state == "succeeded"
    assert vendor.calls == 4
