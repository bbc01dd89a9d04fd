"""How a run begins: a new one, or the last of its name continued where its inputs are still the same.

It must not know what is generated or scored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from evalsi_kernel.errors import ConfigError, UsageError
from evalsi_kernel.runs.event_log import EventLog
from evalsi_kernel.runs.history import History
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.runs.request import RunRequest
from evalsi_kernel.runs.run_folder import RunFolder, latest_run, new_run


class Begun(NamedTuple):
    """A run that this process alone works on.

    Args:
        folder: of the run.
        progress: what of it is done.
        history: what it says of itself.
        kept: how many items are done already and are not done again.
    """

    folder: RunFolder
    log: EventLog
    progress: Progress
    history: History
    kept: int

    def close(self) -> None:
        """Let others in."""
        self.log.close()
        self.folder.unlock()


def begin(request: RunRequest, inputs: Mapping[str, Any], items: int) -> Begun:
    """Continue the last run of this name, or make a new one.

    Args:
        request: what the host asks.
        inputs: what decides whether results belong together.
        items: records times trials.

    Raises:
        ConfigError: `run.locked`, another process works on it; `run.changed`, the inputs are others.
        UsageError: there is no run whose errors could be tried again.
        OutputError: nothing can be written there.
    """
    again = request.retry_errors
    last = None if request.fresh else latest_run(request.runs, request.name)
    if last is not None:
        begun = _opened(last, items, again=again)
        try:
            begun.history.hint()
            if begun.history.begun is None and not begun.progress.is_empty:
                raise ConfigError(
                    f"The log of {last.id} is damaged where it says what the run was begun with.",
                    "Begin a new run with --fresh.",
                    code="run.log",
                )
            if begun.history.begun is None:
                return _began(request, begun, inputs)
            if again or not begun.history.is_over:
                begun.history.check_unchanged(inputs)
                return begun
        except BaseException:
            begun.close()
            raise
        begun.close()
    if again:
        raise UsageError(f"There is no run {request.name!r} whose errors could be tried again.", "Run it first.")
    return _began(request, _opened(new_run(request.runs, request.name), items, again=False), inputs)


def _opened(folder: RunFolder, items: int, *, again: bool) -> Begun:
    folder.lock()
    try:
        log = EventLog(folder.events)
        progress = Progress(log, items)
    except BaseException:
        folder.unlock()
        raise
    kept = progress.done - (progress.failed if again else 0)
    return Begun(folder, log, progress, History(folder, progress), kept)


def _began(request: RunRequest, begun: Begun, inputs: Mapping[str, Any]) -> Begun:
    document = request.document
    about = {
        "name": request.name,
        "project": document.project,
        "labels": document.metadata.labels,
        "items": len(begun.progress),
        "trials": document.spec.trials,
        "spec_file": request.spec_file,
    }
    begun.history.begin(inputs, document.model_dump(mode="json"), about)
    return begun
