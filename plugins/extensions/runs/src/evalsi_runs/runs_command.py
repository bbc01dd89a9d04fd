"""Owns `evalsi runs`: what was run here, how it stands, and how to end or remove it.

It must not know how a run is done.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import ConfigError, EvalsiError, UsageError
from evalsi_kernel.results.grid import Grid, text_grid
from evalsi_kernel.runs.run_folder import RUNS, RunFolder, all_runs

OK = 0
_OVER = ("succeeded", "failed", "error", "cancelled")


class Runs:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the actions."""
        actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
        for name, text in (
            ("list", "every run here"),
            ("show", "how one run stands, what its gates and metrics say, and where its results are"),
            ("cancel", "end a run that is being worked on, as Ctrl-C does"),
            ("delete", "remove runs with all that is known of them"),
        ):
            action = actions.add_parser(name, help=text, description=text)
            action.add_argument("--runs", type=Path, default=RUNS, metavar="DIR", help="where runs lie (.evalsi/runs)")
            if name in ("list", "show"):
                action.add_argument("--format", choices=("table", "json"), default="table", help="what to print")
            if name == "list":
                action.add_argument(
                    "--label", action="append", default=[], metavar="KEY=VALUE", help="only runs with it"
                )
            else:
                action.add_argument("id", nargs="+" if name == "delete" else None, help="such as capitals-3")

    def run(self, options: argparse.Namespace) -> int:
        """Do it."""
        doing = {"list": self._list, "show": self._show, "cancel": self._cancel, "delete": self._delete}
        return doing[options.action](options)

    def _list(self, options: argparse.Namespace) -> int:
        for word in options.label:
            if "=" not in word:
                raise UsageError(f"--label {word} has no value.", "Write KEY=VALUE, such as --label team=search.")
        wanted = dict(word.partition("=")[::2] for word in options.label)
        runs = [told(run) for run in all_runs(options.runs)]
        runs = [run for run in runs if wanted.items() <= (run.get("labels") or {}).items()]
        if options.format == "json":
            print(self._toolkit.as_json(runs))
        elif not runs:
            print("No runs here have these labels." if wanted else "No runs here.")
        else:
            rows = [["run", "state", "verdict", "done", "items", "started"]]
            for run in runs:
                count = [str(run.get(key, "")) for key in ("done", "items")]
                started = (run.get("started_at") or "")[:19].replace("T", " ")
                rows.append([run["id"], run["state"], run.get("verdict") or "", *count, started])
            print(text_grid(Grid(rows[0], rows[1:])))
            for run in runs:
                if "damaged" in run:
                    print(f"{run['id']}: {run['damaged']}", file=sys.stderr)
        return OK

    def _show(self, options: argparse.Namespace) -> int:
        run = found(options.id, options.runs)
        about = told(run)
        about["results"] = str(run.results) if run.results.exists() else None
        # Of one that goes on, the results are those of an attempt before.
        is_over = about["state"] in _OVER and about["results"] is not None and "damaged" not in about
        if options.format == "json":
            print(self._toolkit.as_json(about | (_numbers(run, about) if is_over else {})))
            return OK
        rows = [[key.replace("_", " "), _shown(value)] for key, value in about.items() if value not in (None, "", {})]
        print(text_grid(Grid(rows[0], rows[1:])))
        if is_over:
            print(f"\n{_told_again(run, about, self._toolkit.paint)}")
        return OK

    def _cancel(self, options: argparse.Namespace) -> int:
        run = found(options.id, options.runs)
        process = run.process_id
        if process is None:
            raise ConfigError(f"Nobody works on the run {run.id}.", "There is nothing to cancel.", code="run.unknown")
        try:
            if not process:
                raise ProcessLookupError  # It has not said yet who it is; 0 would be every process of this terminal.
            os.kill(process, signal.SIGINT)
        except (ProcessLookupError, PermissionError) as error:
            raise ConfigError(
                f"The run {run.id} is worked on by a process that cannot be told to stop from here.",
                "Press Ctrl-C where it runs.",
                code="run.locked",
            ) from error
        print(f"{run.id}: process {process} was asked to stop; what it has finished is kept.")
        return OK

    def _delete(self, options: argparse.Namespace) -> int:
        runs = [found(one, options.runs) for one in options.id]
        for run in runs:
            run.lock()
            try:
                shutil.rmtree(run.path)
            except OSError as error:
                raise EvalsiError(
                    f"{run.path} cannot be removed: {error.strerror}.", code="output.unwritable"
                ) from error
            finally:
                run.unlock()
            print(f"{run.id} is gone.")
        return OK


def found(run_id: str, runs: Path) -> RunFolder:
    """The run of an id; raises `ConfigError`, `run.unknown`."""
    known = all_runs(runs)
    for run in known:
        if run.id == run_id:
            return run
    names = [run.id for run in known]
    raise ConfigError(
        f"There is no run {run_id!r} in {runs}.",
        f"{did_you_mean(run_id, names)} `evalsi runs list` lists them.".strip(),
        code="run.unknown",
    )


def told(run: RunFolder) -> dict[str, Any]:
    """What is known of a run; one that nobody works on and that is not over was interrupted."""
    about = _summary(run)
    process = run.process_id
    state = about.get("state", "planned")
    if process is None and state not in _OVER and state != "unknown":
        about["state"] = "interrupted"
    return {"id": run.id, **{key: value for key, value in about.items() if key != "id"}, "process": process}


_TYPES: Mapping[str, type] = {
    "state": str,
    "name": str,
    "project": str,
    "labels": dict,
    "items": int,
    "trials": int,
    "spec_file": str,
    "started_at": str,
    "updated_at": str,
    "done": int,
    "attempts": int,
    "attempt_times": list,
    "verdict": str,
    "reason": str,
    "finished": bool,
}


def _summary(run: RunFolder) -> dict[str, Any]:
    """What `run.json` says; a file that does not have its form is reported under `damaged`, and breaks no list."""
    try:
        about = json.loads((run.path / "run.json").read_text("utf-8"))
    except FileNotFoundError:
        return {"state": "planned"}
    except OSError as error:
        return {"state": "unknown", "damaged": f"run.json cannot be read: {error.strerror}"}
    except (ValueError, RecursionError):
        return {"state": "unknown", "damaged": "run.json is not JSON"}
    if not isinstance(about, dict):
        return {"state": "unknown", "damaged": "run.json is not an object"}
    wrong = [
        key
        for key, kind in _TYPES.items()
        if about.get(key) is not None and (type(about[key]) is not kind or not _is_encodable(about[key]))
    ]
    kept = {key: value for key, value in about.items() if key not in wrong and _is_encodable(value)}
    if wrong:
        kept["damaged"] = f"run.json has no valid {', '.join(wrong)}"
    return {"state": "unknown", **kept} if wrong else {"state": "planned", **kept}


def _is_encodable(value: Any) -> bool:
    """Whether a value can be printed: JSON may hold half a character."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, ValueError, RecursionError):
        return False
    return True


def _told_again(run: RunFolder, about: dict[str, Any], paint: Callable[[str, str], str]) -> str:
    # All that a run loads, which a list of runs need not wait for.
    from .ended_run import ended_run
    from .run_told import text_of

    return text_of(ended_run(run, about), paint)


def _numbers(run: RunFolder, about: dict[str, Any]) -> dict[str, Any]:
    from .ended_run import ended_run  # As above.

    evaluation = ended_run(run, about).evaluation
    return {**evaluation.more, "summaries": [summary.to_dict() for summary in evaluation.summaries]}


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
