"""A file that is held to the SHA-256 which its address names: what has changed since is not scored.

It must not know what the file holds, nor how it is read.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote

from evalsi_kernel.errors import DatasetError, UsageError

_KEY: Final = "sha256"
_DIGEST: Final = re.compile(r"[0-9a-fA-F]{64}")


def pinned_path(uri: str, folder: Path | None = None) -> str:
    """The path of `snapshot://PATH?sha256=…`; a `#`, `?` or `%` in it is written `%23`, `%3F` or `%25`.

    The digest is that of the file's bytes as they lie there, which a results file has as its data's.

    Raises:
        UsageError: the address is off.
        DatasetError: there is no such file, or it holds other bytes.
    """
    path, digest = _parts(uri)
    path = os.path.join(folder or "", path)
    found = _sha256(path)
    if digest is None:
        raise UsageError(
            f"{uri} does not say what the file holds.", f"Write snapshot://{uri.partition('://')[2]}?{_KEY}={found}"
        )
    if not hmac.compare_digest(found, digest.lower()):
        raise DatasetError(
            f"{path} is not what was pinned: its SHA-256 is {found}, and not {digest.lower()}.",
            "Get the file that was pinned, or pin this one.",
        )
    return path


def _parts(uri: str) -> tuple[str, str | None]:
    quoted, _, query = uri.partition("://")[2].partition("?")
    named = parse_qsl(query, keep_blank_values=True)
    strange = sorted({key for key, _ in named} - {_KEY})
    if strange or len(named) > 1:
        what = f"has {strange[0]!r}, which a snapshot does not know" if strange else f"has {_KEY} more than once"
        raise UsageError(f"{uri} {what}.", f"Write snapshot://{quoted}?{_KEY}=…")
    if not quoted:
        raise UsageError(f"{uri} names no file.", f"Write snapshot://qa.jsonl?{_KEY}=…")
    digest = named[0][1] if named else None
    if digest is not None and not _DIGEST.fullmatch(digest):
        raise UsageError(f"{digest!r} in {uri} is no SHA-256, which has 64 hexadecimal digits.", "Copy it whole.")
    return unquote(quoted), digest


def _sha256(path: str) -> str:
    """Of a plain file alone: what is read from a pipe is gone."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise DatasetError(
            f"{path} is no plain file, and so cannot be pinned.", "Name a file.", code="dataset.unreadable"
        )
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError as cause:
        raise DatasetError(f"There is no file {path}.", "Check the path.", code="dataset.not_found") from cause
    except (OSError, ValueError) as cause:
        raise DatasetError(
            f"{path!r} cannot be read: {cause}.", "Check the file.", code="dataset.unreadable"
        ) from cause
