"""Fetches a file from an address: https only, but for this machine's own loopback; within bounds of size and time.

It must not know what is fetched.
"""

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
"""In which all of it must have come: a byte now and then would else hold the command for ever."""
MAX_ARTIFACT_BYTES = 64 * 1024 * 1024
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_CHUNK_BYTES = 1 << 16


def is_url(text: str) -> bool:
    """Whether a text is an address rather than a path."""
    return "://" in text


def is_git(text: str) -> bool:
    """Whether a text names a git repository: `git+…`, `git://…`, `ssh://…`, `git@HOST:…`, `https://….git`."""
    scheme = text.partition(":")[0].lower()
    is_named = scheme.startswith("git+") or scheme in ("git", "ssh") or text.startswith("git@")
    return is_named or (is_url(text) and text.partition("@")[0].rstrip("/").endswith(".git"))


def path_of(url: str) -> str:
    """Return the path that a `file:` address names.

    Raises:
        PackError: `pack.source`; it names another machine, or no absolute path.
    """
    parts = urlsplit(url)
    path = url2pathname(parts.path)
    if parts.netloc not in ("", "localhost") or not path.startswith("/"):
        raise _fault(f"{url} names no file of this machine.", "Write file:///PATH, or the path itself.")
    return path


def check_url(url: str) -> None:
    """Refuse an address that is not https, or that holds a password, which would end up in a file.

    Raises:
        PackError: `pack.source`.
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
    """Write what lies at an address into a file.

    Raises:
        PackError: `pack.source`; the address is refused, nobody answers, or it is larger than `max_bytes` or too slow.
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
    """Goes where it is sent only where an address that a user gives could lead."""

    def redirect_request(  # noqa: PLR0917 - its base has as many
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """As its base does, once the new address is checked."""
        try:
            check_url(newurl)
        except PackError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fault(message: str, hint: str) -> PackError:
    return PackError(message, hint, code="pack.source")
