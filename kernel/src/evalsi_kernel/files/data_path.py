"""Check that a path from the user leads to a data file."""

from __future__ import annotations

import os

from evalsi_kernel.errors import ConfigError


def check_path(uri: str) -> None:
    """Check that a path leads to a file; URIs and standard input are left to their readers.

    Raises:
        ConfigError: `config.no_data`: the path does not exist, or is a folder.
    """
    if uri == "-" or "://" in uri:
        return
    if os.path.isdir(uri):
        raise ConfigError(f"{uri} is a folder.", "Use a file in it.", code="config.no_data")
    if not os.path.exists(uri):
        raise ConfigError(f"No such file: {uri}.", "Check the path.", code="config.no_data")
