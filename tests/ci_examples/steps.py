"""The shell steps of a workflow, an action or a GitLab job, run here one after the other as their runner would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

CI = Path(__file__).parents[2] / "examples" / "ci"
BOUND_S = 120.0
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.\-]+)\s*\}\}")


class Ran(NamedTuple):
    """What came of a job.

    Args:
        code: of the first step that failed; 0 where none did.
        out: what the steps printed.
        summary: of the job.
        outputs: what steps gave to later ones.
    """

    code: int
    out: str
    summary: str
    outputs: Mapping[str, str]


def document(name: str) -> dict[str, Any]:
    """A file of examples/ci."""
    value: dict[str, Any] = yaml.safe_load((CI / name).read_text("utf-8"))
    return value


def run_steps(
    steps: list[dict[str, Any]], folder: Path, values: Mapping[str, str], variables: Mapping[str, str]
) -> Ran:
    """Run the steps that have a script, but for those that install something.

    Args:
        steps: of a job or of a composite action.
        folder: where they run.
        values: what expressions such as `inputs.spec` stand for.
        variables: of the environment.
    """
    summary, output = folder / "summary.md", folder / "output"
    summary.touch()
    output.touch()
    known = dict(values)
    code, told = 0, ""
    for step in steps:
        script = step.get("run")
        if script is None or "pip install" in script or not _is_due(step.get("if", ""), known, failed=code != 0):
            continue
        own = {key: _filled(str(value), known) for key, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", _filled(script, known)],
            cwd=folder,
            env=_environment(variables) | own | {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output)},
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            check=False,
        )
        told += done.stdout + done.stderr
        code = code or done.returncode
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            known[f"steps.{step.get('id')}.outputs.{name}"] = value
    return Ran(code, told, summary.read_text("utf-8"), known)


def _is_due(condition: str, known: Mapping[str, str], *, failed: bool) -> bool:
    if failed and "always()" not in condition:
        return False
    parts = [part.strip() for part in condition.split("&&") if part.strip() not in ("", "always()")]
    return all(known.get(name.strip(), "") != "" for name in (part.removesuffix("!= ''") for part in parts))


def _filled(text: str, known: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda found: known[found[1]], text)


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """With the commands of this environment first, as after `pip install`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, **variables}
