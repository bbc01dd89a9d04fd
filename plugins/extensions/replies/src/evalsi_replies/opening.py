"""Opens the file of the cache for a look at it, or to prune it; it makes none.

It must not know what is looked for.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .cache_store import WAIT_S, connect, fault_of


@contextmanager
def opened(path: Path, *, wait_s: float = WAIT_S) -> Iterator[sqlite3.Connection]:
    """A connection to a file that is there.

    Args:
        path: of the file.
        wait_s: how long a statement waits for another process.

    Raises:
        CacheError: as the kernel's `connect`; also when what is done inside the block fails.
    """
    connection = connect(path, wait_s=wait_s, may_create=False)
    # Text that is damaged is still shown.
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    try:
        yield connection
    except sqlite3.Error as error:
        raise fault_of(path, error) from error
    finally:
        connection.close()


def is_there(path: Path) -> bool:
    """Whether there is a cache file, or something in its place that cannot be looked at."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
