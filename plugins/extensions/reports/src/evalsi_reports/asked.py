"""Owns whether two results files are of other data: of other ids, inputs or references.

Answers that were recorded are a part of the data too, and are what is compared. It must not know what a report shows.
"""

from __future__ import annotations

from pathlib import Path

from evalsi_kernel.gates.baseline import mark_of

from .head import Head
from .redaction import Redaction
from .results import Results
from .values import one_object


def asks_otherwise(now: Head, path: Path, before: Head, baseline: Path) -> bool:
    """Whether two files are of other data, as far as is known; they are read again where their hashes differ."""
    ours, theirs = (one_object(head.manifest.get("dataset")).get("sha256") for head in (now, before))
    if not isinstance(ours, str) or not isinstance(theirs, str) or ours == theirs:
        return False
    return _asked(path, now) != _asked(baseline, before)


def _asked(path: Path, head: Head) -> int:
    """A mark of all that was asked, whatever of it the report shows; each record stands there once a trial."""
    records = (entry for name, entry in Results(path, Redaction()).entries() if name == "records")
    total = sum(mark_of(str(one.get("id")), one.get("input"), one.get("reference")) for one in records)
    trials = head.manifest.get("trials", 1)
    return total // trials if type(trials) is int and trials > 0 else total
