"""C6: progress shows total and remaining time; verdicts are coloured on a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from evalsi_cli.terminal import ProgressLine, duration, listener_of
from evalsi_kernel.extensions.hook_calls import open_source
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.rows_source import RowsSource
from tests.cli.running import BOUND_S, EVALSI, write_jsonl

ROWS = [{"output": "x" * (number % 90), "reference": "x"} for number in range(20_000)]


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_c6_the_line_has_a_total_and_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("evalsi_cli.terminal.monotonic", lambda: now[0])
    stream = Terminal()
    progress = ProgressLine(stream=stream)
    listener = listener_of(progress)
    listener.on_total(1_000)
    now[0] = 10.0
    listener.on_records(100)
    assert "10%  100 of 1,000 records, 10/s, 1 min 30 s left" in stream.getvalue()
    listener.on_total(None)
    now[0] = 20.0
    listener.on_records(200)
    assert stream.getvalue().endswith("200 records, 10/s")


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0 s"), (59.4, "59 s"), (60, "1 min 0 s"), (3_599, "59 min 59 s"), (7_260, "2 h 1 min")]
)
def test_c6_a_time_span_reads_as_people_write_it(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def totals(intake: Intake) -> list[int | None]:
    return [intake.expected() for _ in intake.chunks()]


@pytest.mark.parametrize("name", ["d.jsonl", "d.json", "d.csv", "d.jsonl.gz"])
def test_c6_the_total_of_a_file_is_estimated_from_its_size(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "d.json":
        path.write_text(json.dumps(ROWS), encoding="utf-8")
    elif name == "d.csv":
        lines = ["output,reference", *(f"{row['output']},x" for row in ROWS)]
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        write_jsonl(tmp_path / "d.jsonl", ROWS)
        if name.endswith(".gz"):
            subprocess.run(["gzip", "-k", str(tmp_path / "d.jsonl")], check=True, timeout=BOUND_S)
    found = totals(Intake(open_source(str(path), default_extensions())))
    assert len(found) > 5
    assert found[-1] == len(ROWS)
    assert all(one is not None and one > 0 for one in found)
    if not name.endswith(".gz"):
        middle = found[len(found) // 2]
        assert middle is not None
        assert 0.7 * len(ROWS) < middle < 1.4 * len(ROWS)


def test_c6_the_total_of_rows_at_hand_is_known_and_a_limit_bounds_it() -> None:
    assert set(totals(Intake(RowsSource(ROWS)))) == {len(ROWS)}
    assert set(totals(Intake(RowsSource(ROWS), limit=50))) == {50}
    assert set(totals(Intake(RowsSource(ROWS[:20]), limit=50))) == {20}
    assert set(totals(Intake(RowsSource(iter(ROWS))))) == {None}


def seen_in_a_terminal(folder: Path, variables: Mapping[str, str]) -> str:
    """What `evalsi run` shows where standard output is a terminal."""
    leader, follower = pty.openpty()
    environment: dict[str, str] = {**os.environ, "TERM": "xterm", **variables}
    try:
        with subprocess.Popen(
            [EVALSI, "run", "-f", "run.yaml", "--fresh"],
            stdout=follower,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
        ) as process:
            os.close(follower)
            shown = b""
            while True:
                try:
                    block = os.read(leader, 65536)
                except OSError:  # The last one that held the terminal is gone.
                    break
                if not block:
                    break
                shown += block
            process.communicate(timeout=BOUND_S)
    finally:
        os.close(leader)
    return shown.decode()


@pytest.fixture
def gated(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "d.jsonl", [{"output": "x", "reference": "x"}])
    spec: dict[str, Any] = {
        "target": {"connector": "replay"},
        "dataset": {"path": "d.jsonl"},
        "evaluators": [{"ref": "exact-match"}, {"ref": "length"}],
        "gates": [{"metric": "exact-match", "min": 0.5}, {"metric": "length", "min": 500}],
    }
    (tmp_path / "run.yaml").write_text(json.dumps({"metadata": {"name": "t"}, "spec": spec}), encoding="utf-8")
    return tmp_path


def test_c6_verdicts_have_a_colour_in_a_terminal(gated: Path) -> None:
    shown = seen_in_a_terminal(gated, {"NO_COLOR": ""})
    assert "\x1b[32mpass" in shown
    assert "\x1b[31mFAIL" in shown
    assert "\x1b[31ma gate failed\x1b[0m" in shown


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_c6_a_terminal_that_wants_no_colours_gets_none(gated: Path, variables: dict[str, str]) -> None:
    shown = seen_in_a_terminal(gated, variables)
    assert "FAIL" in shown
    assert "\x1b[3" not in shown
