"""Download a file within limits on size and time; only https is allowed, except from the loopback interface."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from pathlib import Path
from time import monotonic
from typing import IO, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from evalsi_kernel.errors import PackError

TIMEOUT_S = 30.0
WHOLE_S = 600.0
"""Timeout of the whole download, so that a server that sends very slowly cannot block the command forever."""
MAX_ARTIFACT_BYTES = 64 * 1024 * 1024
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_CHUNK_BYTES = 1 << 16


def is_url(text: str) -> bool:
    """Whether the text is an address rather than a path."""
    return "://" in text


def is_git(text: str) -> bool:
    """Whether a text names a git repository: `git+…`, `git://…`, `ssh://…`, `git@HOST:…`, `https://….git`."""
    scheme = text.partition(":")[0].lower()
    is_named = scheme.startswith("git+") or scheme in ("git", "ssh") or text.startswith("git@")
    return is_named or (is_url(text) and text.partition("@")[0].rstrip("/").endswith(".git"))


def path_of(url: str) -> str:
    """Return the path in a `file:` address.

    Raises:
        PackError: `pack.source`; the address names another host or a relative path.
    """
    parts = urlsplit(url)
    path = url2pathname(parts.path)
    if parts.netloc not in ("", "localhost") or not path.startswith("/"):
        raise _fault(f"{url} names no file of this machine.", "Write file:///PATH, or the path itself.")
    return path


def check_url(url: str) -> None:
    """Check that an address is https and contains no password, which would end up in evalsi.lock.

    Raises:
        PackError: `pack.source`; the address is not allowed.
    """
    try:
        parts = urlsplit(url)
        host, scheme, has_password = parts.hostname or "", parts.scheme.lower(), "@" in parts.netloc
    except ValueError as error:
        raise _fault(f"{url} is no address: {error}.", "Check how it is written.") from error
    if has_password:
        raise _fault(
            "The address holds a name or a password.", "Leave it out; evalsi.lock keeps addresses as they are."
        )
    if not host or (scheme != "https" and not (scheme == "http" and host in _LOOPBACK)):
        raise _fault(
            f"{url} cannot be fetched: addresses are read over https only.",
            "Give an address that begins with https://.",
        )


def fetch(url: str, to: Path, *, max_bytes: int = MAX_ARTIFACT_BYTES) -> None:
    """Download an address into the file `to`.

    Raises:
        PackError: `pack.source`; the address is not allowed or cannot be reached, or the file is larger than
            `max_bytes` or arrives too slowly.
    """
    check_url(url)
    opener = urllib.request.build_opener(_CarefulRedirects)
    request = urllib.request.Request(url, headers={"User-Agent": "evalsi"})
    left, until = max_bytes, monotonic() + WHOLE_S
    try:
        with opener.open(request, timeout=TIMEOUT_S) as reply, to.open("wb") as out:
            while chunk := reply.read1(_CHUNK_BYTES):
                if monotonic() > until:
                    raise _fault(f"{url} has not come within {WHOLE_S:g} s.", "Try again, or fetch it by other means.")
                left -= len(chunk)
                if left < 0:
                    raise _fault(f"{url} is larger than {max_bytes // 1_000_000:,} MB.", "Check the address.")
                out.write(chunk)
    except urllib.error.HTTPError as error:
        error.close()
        raise _fault(f"{url} answers {error.code} {error.reason}.", "Check the address.") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise _fault(
            f"{url} cannot be fetched: {why}.", "Check the address and the network, then try again."
        ) from error


class _CarefulRedirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects only to addresses that a user could also give."""

    def redirect_request(  # noqa: PLR0917 - its base has as many
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """Check the new address, then redirect as the base class does."""
        try:
            check_url(newurl)
        except PackError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fault(message: str, hint: str) -> PackError:
    return PackError(message, hint, code="pack.source")
