"""Whether the path that a user names leads to a file of data.

It must not know a file format, nor who reads it.
"""

from __future__ import annotations

import os

from evalsi_kernel.errors import ConfigError


def check_path(uri: str) -> None:
    """See that a path leads to a file, which costs nothing; a URI and standard input are left to their readers.

    Raises:
        ConfigError: `config.no_data`; there is nothing, or a folder.
    """
    if uri == "-" or "://" in uri:
        return
    if os.path.isdir(uri):
        raise ConfigError(f"{uri} is a folder.", "Name a file in it.", code="config.no_data")
    if not os.path.exists(uri):
        raise ConfigError(f"There is no file {uri}.", "Check the path.", code="config.no_data")
