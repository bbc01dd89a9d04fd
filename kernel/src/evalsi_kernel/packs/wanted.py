"""An evaluator as a user names it, before anything is looked up.

It must not know a catalog.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Wanted(NamedTuple):
    """An evaluator that a user names.

    Args:
        ref: a name of the catalog, or a file or module with an optional `:attribute`; "" for a local one.
        name: what to call it; None takes the evaluator's own name.
        params: its params.
        local: the evaluator's place in the local pack.
        when: the condition in CEL under which it scores a record of a run; None always does.
    """

    ref: str
    name: str | None = None
    params: Mapping[str, Any] = MappingProxyType({})
    local: int | None = None
    when: str | None = None
