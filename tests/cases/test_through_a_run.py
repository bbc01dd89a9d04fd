"""Reported faults of other tools that lie between asking a target and judging its gates, through a whole run."""

from __future__ import annotations

from pathlib import Path

from tests.providers import Provider
from tests.runs.running import model_of, records, results, run, write_spec

REWARD = '''
from evalsi import Output, evaluator

@evaluator(name="reward", version=1, outputs=[Output(kind="number", minimum=0, maximum=1)])
def reward(record) -> float:
    """The number that the output says."""
    return float(record.output.as_text())
'''


def test_a_mean_reward_keeps_its_name_beside_the_share_of_whole_successes(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(REWARD)
    rewards = iter(["0.5", "0.5", "1.0", "0.0"])
    names = ("reward.pass^1", "reward.pass^2", "reward.pass@2")
    with Provider(lambda _: next(rewards)) as vendor:
        write_spec(
            tmp_path,
            model_of(vendor, max_concurrency=1),
            records(1),
            trials=4,
            evaluators=[{"ref": "./own.py:reward"}],
            gates=[{"metric": name, "min": 0} for name in names],
        )
        done = run(tmp_path)
    assert done.code == 0, done.err
    means = {one["metric"]: one["mean"] for one in results(tmp_path)["summaries"]}
    assert means["reward"] == 0.5
    assert [means[name] for name in names] == [0.25, 0.0, 0.5]


def test_an_id_that_is_used_twice_is_found_before_a_call_is_paid_for(tmp_path: Path) -> None:
    rows = [{**row, "id": "7"} for row in records(2)]
    with Provider() as vendor:
        write_spec(tmp_path, model_of(vendor), rows)
        done = run(tmp_path)
        assert vendor.calls == 0
    assert done.code == 1
    assert "line 2: the id '7' stands in line 1 already" in done.err
