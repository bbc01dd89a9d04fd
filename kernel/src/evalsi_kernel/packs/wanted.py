"""An evaluator as the user requested it, before it is resolved."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Wanted(NamedTuple):
    """An evaluator that a user requested.

    Args:
        ref: a name of the catalog, or a file or module with an optional `:attribute`; "" for a local one.
        name: name to use in the run; None uses the evaluator's own name.
        params: its params.
        local: index of the evaluator in the local pack.
        when: CEL condition under which it scores a record of a run; None means always.
    """

    ref: str
    name: str | None = None
    params: Mapping[str, Any] = MappingProxyType({})
    local: int | None = None
    when: str | None = None
