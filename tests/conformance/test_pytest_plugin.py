"""`pytest --evalsi-pack DIR` has one test a check: passed, failed without a traceback, or skipped with the reason."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACK = '''
"""A pack of a test."""

from evalsi import Output, Record, evaluator


@evaluator(name="polite", version=1, needs=("output",), outputs=[Output(kind="number", minimum=0, maximum=1)])
def polite(record: Record) -> float:
    """Says please."""
    return {score}
'''
HEAD = """
manifest = 1
name = "acme/tone"
version = "1"
summary = "A pack of a test."
protocol = 1
[run]
module = "acme_tone"
"""


def run_over(folder: Path, score: str, *words: str) -> tuple[int, str]:
    """What pytest says of a pack of Python, in a run of its own."""
    (folder / "src").mkdir()
    (folder / "src" / "acme_tone.py").write_text(PACK.format(score=score), "utf-8")
    (folder / "plugin.toml").write_text(HEAD, "utf-8")
    environment = {"PYTHONPATH": str(folder / "src"), "PATH": ""}
    write = [sys.executable, "-m", "evalsi.manifest", "acme_tone", "--write", "plugin.toml"]
    subprocess.run(write, cwd=folder, env=environment, check=True, timeout=60)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-rs", "-q"]
    done = subprocess.run(
        [*command, "--evalsi-pack", ".", *words],
        cwd=folder,
        env={**environment, "PATH": str(Path(sys.executable).parent)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.returncode, done.stdout


def test_a_pack_that_conforms_passes_and_what_was_not_checked_is_skipped_with_its_reason(tmp_path: Path) -> None:
    code, said = run_over(tmp_path, "1.0")
    assert code == 0, said
    assert "no evaluator asks for a judge" in said


def test_a_check_that_fails_is_a_test_that_fails_with_what_was_found(tmp_path: Path) -> None:
    code, said = run_over(tmp_path, "2.0")
    assert code == 1
    assert "evalsi: trustworthy: range" in said
    assert 'polite: sample-1: the score "polite" is 2.0, outside of 0 to 1.' in said.replace("0.0 to 1.0", "0 to 1")
    assert "Traceback" not in said


def test_a_lower_level_runs_fewer_tests(tmp_path: Path) -> None:
    code, said = run_over(tmp_path, "2.0", "--evalsi-level", "loads")
    assert (code, "5 passed" in said) == (0, True), said
