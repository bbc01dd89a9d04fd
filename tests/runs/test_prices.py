"""What a target costs where no price of it comes along: a user's own file says it, judge or no judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.providers import MODEL, Answer, Provider, fixed
from tests.runs.running import model_of, records, results, run, write_spec

PRICES = f'version = "mine"\n[models."{MODEL}"]\ninput = 2.0\noutput = 10.0\n'
COST_USD = (1000 * 2 + 100 * 10) / 1_000_000


@pytest.fixture
def priced(tmp_path: Path) -> Path:
    (tmp_path / "prices.toml").write_text(PRICES)
    return tmp_path


def test_a_file_of_prices_says_what_the_target_costs_without_a_judge(priced: Path) -> None:
    with Provider(fixed(Answer("Lisbon", input_tokens=1000, output_tokens=100))) as vendor:
        write_spec(priced, model_of(vendor), records(2))
        done = run(priced, "--prices", "prices.toml")
    assert done.code == 0, done.err
    assert results(priced)["manifest"]["target_usage"]["cost_usd"] == pytest.approx(2 * COST_USD)


def test_a_budget_in_dollars_holds_by_these_prices_and_what_to_do_without_them_is_said(priced: Path) -> None:
    with Provider(fixed(Answer("Lisbon", input_tokens=20, output_tokens=2))) as vendor:
        write_spec(priced, model_of(vendor), records(2), budget={"max_target_usd": 1.0})
        unpriced = run(priced)
        assert (unpriced.code, vendor.calls) == (1, 0)
        assert "Add its price to a file and pass that with --prices, or drop budget.max_target_usd." in unpriced.err
        held = run(priced, "--prices", "prices.toml")
    assert held.code == 0, held.err


def test_a_dry_run_counts_with_them(priced: Path) -> None:
    with Provider(fixed("x")) as vendor:
        write_spec(priced, model_of(vendor), records(2))
        unknown = json.loads(run(priced, "--dry-run", "--format", "json").out)
        known = json.loads(run(priced, "--dry-run", "--format", "json", "--prices", "prices.toml").out)
    assert unknown["max_usd"] is None
    assert known["max_usd"] >= 2 * 64 * 10 / 1_000_000


def test_a_file_that_is_not_there_is_told_before_anything_is_asked(priced: Path) -> None:
    with Provider(fixed("x")) as vendor:
        write_spec(priced, model_of(vendor), records(2))
        done = run(priced, "--prices", "no.toml")
        assert (done.code, vendor.calls) == (1, 0)
    assert "The prices no.toml cannot be read" in done.err
