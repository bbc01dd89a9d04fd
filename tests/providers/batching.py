"""How batches of the server go: how long they take, what becomes of their rows. Plain data, the same for both APIs."""

from __future__ import annotations

import random
from collections.abc import Sequence, Set
from typing import NamedTuple, TypeVar

Row = TypeVar("Row")


class Batching(NamedTuple):
    """How batches go.

    Attributes:
        polls: How often a batch says that it is in progress before it has ended.
        expired: The custom ids of rows that run out of time.
        lost: The custom ids of rows of which nothing is heard again.
        doubled: The custom ids of rows that come back twice.
        invalid: The code with which the vendor refuses the whole input, such as `token_limit_exceeded`; OpenAI's only.
        seed: Of the order in which rows come back.
    """

    polls: int = 1
    expired: Set[str] = frozenset()
    lost: Set[str] = frozenset()
    doubled: Set[str] = frozenset()
    invalid: str | None = None
    seed: int = 0


def shuffled(rows: Sequence[Row], seed: int) -> list[Row]:
    """The rows in another order, the same for the same seed; two or more never stay as they were."""
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)
    return mixed if mixed != list(rows) else mixed[::-1]
