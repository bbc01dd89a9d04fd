"""What the vendor allows: keys, models, formats, parameters. Each API says in its own form what breaks them."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

KEY = "test-key"
MODEL = "my-judge"
EMBEDDER = "my-embedder"


class Rules(NamedTuple):
    """What is allowed. None allows any."""

    keys: Set[str] | None = frozenset({KEY})
    models: Set[str] | None = frozenset({MODEL, EMBEDDER})
    formats: Set[str] = frozenset({"text", "json_object", "json_schema", "tool"})
    refused_parameters: Set[str] = frozenset()
    """Fields of a body that this server does not know, such as `seed` or `max_tokens`."""
