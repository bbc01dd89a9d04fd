"""Owns the hook by which the kernel has questions answered in batches.

It must not know how a batch goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evalsi_kernel.broker.batches import KeptReplies
from evalsi_kernel.broker.connector import BatchConnector
from evalsi_kernel.hooks import hookimpl

from .batching import GatheredBatches
from .following import BatchTimes
from .store import BatchStore, default_folder

TIMES = BatchTimes()


@hookimpl
def evalsi_batches(
    identity: Mapping[str, str],
    connector: BatchConnector,
    kept: KeptReplies | None,
    on_note: Callable[[str], None],
) -> GatheredBatches:
    """The batches of a model, noted in the cache's folder."""
    return GatheredBatches(
        identity, connector, kept=kept, store=BatchStore(default_folder()), on_note=on_note, times=TIMES
    )
