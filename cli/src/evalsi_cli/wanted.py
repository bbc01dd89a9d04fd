"""Parse `--evaluators`."""

from __future__ import annotations

from collections.abc import Sequence

from evalsi_kernel.errors import UsageError
from evalsi_kernel.packs.wanted import Wanted


def wanted_evaluators(words: Sequence[str]) -> list[Wanted]:
    """Parse comma-separated evaluator references, each with an optional prefix `name=`.

    Raises:
        UsageError: a name is empty.
    """
    wanted = []
    for word in (part.strip() for text in words for part in text.split(",")):
        name, equals, ref = word.rpartition("=")
        if not ref or (equals and not name):
            raise UsageError(f"--evaluators has an empty name in {','.join(words)!r}.", "Write a,b or name=a.")
        wanted.append(Wanted(ref, name or None))
    return wanted
