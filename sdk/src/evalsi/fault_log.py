"""Locations and tracebacks of exceptions in an evaluator's code, each location logged once.

A pack's process writes tracebacks to stderr, which is its log. In a script's own process, `evaluate` prints them.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

FRAMES = 6
"""Number of innermost frames that a traceback shows."""
_OWN_FOLDER = os.path.dirname(__file__)
_LIBRARIES = (os.path.dirname(os.__file__), f"{os.sep}site-packages{os.sep}")

Place = tuple[str, str, int]
"""Type of the exception, file and line where it was raised."""


class FaultLog:
    """Settings of the log.

    Attributes:
        writes: whether tracebacks are written to stderr. True in a pack's own process.
    """

    writes = False


def place_of(error: BaseException) -> Place:
    """Return the innermost location in the author's code, or the innermost of all if there is none."""
    frames = []
    step = error.__traceback__
    while step is not None:
        frames.append((step.tb_frame.f_code.co_filename, step.tb_lineno))
        step = step.tb_next
    own = [frame for frame in frames if _is_authors(frame[0])]
    file, line = (own or frames or [("", 0)])[-1]
    return type(error).__name__, file, line


def where_of(error: BaseException) -> str:
    """Return the location as text, such as "my_evals.py, line 7"; "" if it is unknown."""
    _, file, line = place_of(error)
    return f"{os.path.basename(file)}, line {line}" if file else ""


def traceback_of(error: BaseException) -> str:
    """Return the traceback as text, without the frames of the host loop that called the author's code."""
    import traceback  # Imported late: only errors need it.

    step: TracebackType | None = error.__traceback__
    while step is not None and step.tb_next is not None and _is_host(step.tb_frame.f_code.co_filename):
        step = step.tb_next
    return "".join(traceback.format_exception(type(error), error, step, limit=-FRAMES)).rstrip("\n")


def log(error: BaseException) -> str:
    """Return the traceback, and write it to stderr if `FaultLog.writes` is set."""
    text = traceback_of(error)
    if FaultLog.writes:
        print(text, file=sys.stderr, flush=True)
    return text


def first_of(raised: set[Any] | None, error: BaseException) -> str:
    """Return and log the traceback of the first exception at each location; return "" for later ones."""
    place = place_of(error)
    if raised is not None and place in raised:
        return ""
    if raised is not None:
        raised.add(place)
    return log(error)


def _is_authors(file: str) -> bool:
    standard, installed = _LIBRARIES
    return not (file.startswith(("<frozen", standard)) or installed in file or _is_host(file))


def _is_host(file: str) -> bool:
    return os.path.dirname(file) == _OWN_FOLDER
