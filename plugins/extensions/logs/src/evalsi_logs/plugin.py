"""Owns the hook by which the kernel opens logs of other tools, and the choice of a reader by the scheme.

A reader is imported only when a log of its kind is opened; this module must stay cheap to import.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalsi_kernel.hooks import hookimpl

if TYPE_CHECKING:
    from pathlib import Path

    from evalsi_kernel.records.sources import Source


@hookimpl
def evalsi_open_source(uri: str, folder: Path | None) -> Source | None:
    """Open `inspect://PATH`, a path that ends in `.eval`, or `lm-eval://PATH`; None for another scheme.

    Raises:
        DatasetError: there is no such log, or nothing that reads it.
    """
    scheme, separator, path = uri.partition("://")
    if not separator:
        scheme, path = "inspect", uri
    path = os.path.join(folder or "", path) if path else path
    if scheme.lower() == "inspect":
        from .inspect_log import open_inspect_log

        return open_inspect_log(path, uri)
    if scheme.lower() == "lm-eval":
        from .harness_samples import open_harness_samples

        return open_harness_samples(path, uri)
    return None
