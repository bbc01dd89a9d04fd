"""Budgets of a run: what was done is kept and scored, and more of the budget lets the same command go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalsi_kernel.errors import ConfigError
from tests.providers import Provider, faults, fixed
from tests.runs.running import executed, model_of, records, results, write_spec

COUNT = 200


def test_a_clock_that_has_run_out_ends_the_calls_and_the_same_run_goes_on(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), latency_s=0.02) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=1), records(COUNT), budget={"max_wall_clock": "200ms"})
        end = executed(tmp_path)
        assert end.state == "error"
        assert 0 < end.done < COUNT
        assert "budget.max_wall_clock" in end.reason
        value = results(tmp_path)
        assert sum(one["outcome"] == "scored" for one in value["results"]) == end.done
        write_spec(tmp_path, model_of(vendor, max_concurrency=32), records(COUNT))
        again = executed(tmp_path)
        assert (again.state, again.kept, again.done) == ("succeeded", end.done, COUNT)
        assert vendor.calls == COUNT


def test_a_call_that_waits_for_another_try_ends_with_the_clock(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), faults=faults.always(faults.rate_limited(250))) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=4), records(COUNT), budget={"max_wall_clock": "300ms"})
        end = executed(tmp_path)
        assert vendor.calls <= 4
    assert (end.state, end.done) == ("error", 0)


def test_a_budget_that_cannot_be_held_is_found_before_a_run_begins(tmp_path: Path) -> None:
    write_spec(tmp_path, {"connector": "python", "function": "json:dumps"}, budget={"max_target_tokens": 10})
    with pytest.raises(ConfigError, match="max_target_tokens cannot be held"):
        executed(tmp_path)
    assert not list((tmp_path / ".evalsi" / "runs").iterdir())
