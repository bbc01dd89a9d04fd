"""What a run says of itself in its log: what it was begun with, its attempts and its states; and whether it may go on.

It must not know items.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.files.atomic_file import as_output_error
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.runs.run_folder import RunFolder

State = Literal["planned", "preparing", "running", "scoring", "gating", "succeeded", "failed", "error", "cancelled"]
FINISHED = frozenset({"succeeded", "failed"})
"""A run in one of these is over: the same command begins a new one; so does it where an `error` left nothing to do."""
ENDED = FINISHED | {"error", "cancelled"}
_LONGEST_SHOWN = 60


class History:
    """The notes of a run, and their summary in `run.json`, which is only for those who list runs.

    Args:
        folder: of the run.
        progress: of the run, whose log holds the notes.
    """

    def __init__(self, folder: RunFolder, progress: Progress) -> None:
        self._folder = folder
        self._progress = progress

    @property
    def begun(self) -> Mapping[str, Any] | None:
        """What the run was begun with; None where it was not begun yet."""
        notes = self._progress.notes
        begun = next((note for note in notes if note["note"] == "run"), None)
        # Each attempt repeats it, for a log whose first frame is damaged.
        return begun or next((note["run"] for note in notes if note["note"] == "attempt" and note.get("run")), None)

    @property
    def is_over(self) -> bool:
        """Whether the same command begins a new run: nothing of this one is left to do."""
        last = self._last
        return last is not None and bool(last.get("finished", last["state"] in FINISHED))

    @property
    def attempts(self) -> int:
        """How often it was worked on."""
        return sum(note["note"] == "attempt" for note in self._progress.notes)

    @property
    def attempt_times(self) -> list[dict[str, Any]]:
        """When each attempt began and ended, and how many items were done before; the present one has no end yet.

        One that was killed ended when it last wrote to the log.
        """
        found: list[dict[str, Any]] = []
        for note in self._progress.notes:
            if note["note"] == "attempt":
                if found and found[-1]["finished_at"] is None:
                    found[-1]["finished_at"] = note.get("written_at")
                found.append({"started_at": note["at"], "finished_at": None, "kept": note["kept"]})
            elif note["note"] == "state" and note["state"] in ENDED and found:
                found[-1]["finished_at"] = note["at"]
        return found

    def begin(self, inputs: Mapping[str, Any], spec: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Write down what it is begun with."""
        self._progress.note(note="run", at=now(), inputs=inputs, spec=spec, **about)
        self.enter("planned")

    def attempt(self, kept: int) -> None:
        """Write down that it is worked on, with so many items done before."""
        written_at = datetime.fromtimestamp(self._progress.written_at, UTC).isoformat(timespec="milliseconds")
        self._progress.note(
            note="attempt", at=now(), kept=kept, process=os.getpid(), run=self.begun, written_at=written_at
        )

    def enter(self, state: State, **about: Any) -> None:
        """Write down a change of state."""
        self._progress.note(note="state", state=state, at=now(), **about)
        self._summarise(state, about)

    def hint(self) -> None:
        """Remove what a process that was killed was writing, and have `run.json` say what the log says."""
        for unfinished in (*self._folder.path.glob(".evalsi-*.tmp"), self._summary.with_suffix(".tmp")):
            unfinished.unlink(missing_ok=True)
        last = self._last
        if last is not None and _state_in(self._summary) != last["state"]:
            about = {key: value for key, value in last.items() if key not in {"note", "state", "at"}}
            self._summarise(last["state"], about)

    @property
    def _last(self) -> Mapping[str, Any] | None:
        """The note of the last state."""
        return next((note for note in reversed(self._progress.notes) if note["note"] == "state"), None)

    @property
    def _summary(self) -> Path:
        return self._folder.path / "run.json"

    def _summarise(self, state: State, about: Mapping[str, Any]) -> None:
        begun = self.begun or {}
        summary = {
            "id": self._folder.id,
            **{key: begun.get(key) for key in ("name", "project", "labels", "items", "trials", "spec_file")},
            "state": state,
            "started_at": begun.get("at"),
            "updated_at": now(),
            "done": self._progress.done,
            "attempts": self.attempts,
            "attempt_times": self.attempt_times,
            **about,
        }
        path = self._summary
        unfinished = path.with_suffix(".tmp")  # One process alone writes here.
        with as_output_error(path, "Free some space."):
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(summary, ensure_ascii=False, indent=1))
            unfinished.replace(path)

    def check_unchanged(self, inputs: Mapping[str, Any]) -> None:
        """Refuse to go on with other inputs than those it was begun with; raises `ConfigError`, `run.changed`."""
        begun = self.begun
        assert begun is not None
        changes = list(_changes("", begun["inputs"], json.loads(json.dumps(inputs))))
        if changes:
            raise ConfigError(
                f"The run {self._folder.id} is not finished, and what it was begun with has changed: "
                f"{'; '.join(changes)}.",
                "Undo the change to go on, or begin a new run with --fresh.",
                code="run.changed",
            )


def _state_in(summary: Path) -> str | None:
    try:
        state: str | None = json.loads(summary.read_text("utf-8"))["state"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None  # It is only a summary; the log decides.
    return state


def now() -> str:
    """The time, for a person: nothing is decided by it, since clocks may go backwards."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _changes(place: str, old: Any, new: Any) -> list[str]:
    """What differs, one phrase a place."""
    if old == new:
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for key in [*old, *(key for key in new if key not in old)]:
            inner = f"{place}.{key}" if place else key
            if key not in old:
                found.append(f"{inner} is new")
            elif key not in new:
                found.append(f"{inner} is gone")
            else:
                found += _changes(inner, old[key], new[key])
        return found
    return [f"{place} was {_shown(old)} and is {_shown(new)}"]


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
