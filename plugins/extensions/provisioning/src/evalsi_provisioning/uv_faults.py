"""Translate uv's error output into errors with hints.

The patterns match the output of uv 0.9.18 and 0.13.9; other output is passed on unchanged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.results.grid import printable
from evalsi_protocol.errors import Retry

from .contained import quoted

REASON_CHARS = 1000


@dataclass(frozen=True, slots=True)
class _Fault:
    pattern: re.Pattern[str]
    code: str
    hint: str
    retry: Retry = "no"


def _fault(pattern: str, code: str, hint: str, retry: Retry = "no") -> _Fault:
    return _Fault(re.compile(pattern), f"environment.{code}", hint, retry)


# The first match wins. The order matters: a full disk, for example, also makes a download fail.
_FAULTS = (
    _fault(
        r"No space left on device|os error 28\b|Disk quota exceeded",
        "disk_full",
        "Free some space, or set EVALSI_CACHE_DIR and UV_CACHE_DIR to folders with room.",
        "later",
    ),
    _fault(
        r"Permission denied|Read-only file system|Operation not permitted|Not a directory",
        "cache_unwritable",
        "Make the folder that is named writable, or set EVALSI_CACHE_DIR and UV_CACHE_DIR to folders that are.",
    ),
    _fault(
        r"Hash mismatch",
        "hash_mismatch",
        "Do not use that download. Ask the pack's author, or see whether a proxy or an index alters files.",
    ),
    _fault(
        r"incompatible with the project's Python requirement",
        "python_unsuitable",
        "Install evalsi under a Python that the pack supports.",
    ),
    _fault(
        r"marked as `--no-build`|no usable wheels|no wheels with a matching|wheel for the current platform",
        "no_wheel",
        "Use a Python and platform for which that package has a wheel; packages are never built from source here.",
    ),
    _fault(
        r"not found in the package registry|not found in the provided|no version of",
        "not_in_index",
        "Add the package to the index that the UV_* variables name, or unset them to use the addresses in the lock.",
    ),
    _fault(
        r"Network connectivity is disabled|network was disabled|Failed to (?:download|fetch)|error sending request",
        "offline",
        "Connect once, or point UV_FIND_LINKS at a folder with the wheels (UV_DEFAULT_INDEX at a mirror).",
        "later",
    ),
    _fault(
        r"unsupported (?:schema )?version|Failed to parse `uv\.lock`",
        "lock_unreadable",
        "Upgrade uv (`python -m pip install -U uv`), or make the lock again with this one.",
    ),
)


def uv_fault(pack: str, output: str) -> PackEnvironmentError:
    """Return the error for a failed build of `pack`; `details["output"]` has the end of uv's output."""
    tail = quoted(output)
    fault = next((one for one in _FAULTS if one.pattern.search(output)), None)
    error = PackEnvironmentError(
        f"The environment of the pack {pack} cannot be built: {_reason(output)}.",
        fault.hint if fault else "See what uv printed: it is in this error's details.",
        code=fault.code if fault else "environment.build_failed",
        output=tail,
    )
    if fault:
        error.retry = fault.retry
    return error


def _reason(output: str) -> str:
    """Return uv's error and its last cause in one line, without a final full stop."""
    lines = [line.strip(" ×╰├─▶│") for line in output.splitlines()]
    errors = [line.removeprefix("error:").strip() for line in lines if line.startswith("error:")]
    causes = [
        re.sub(r"^(?:cause|Caused by):\s*", "", line, flags=re.I)
        for line in lines
        if re.match(r"(?i)cause|caused by", line)
    ]
    parts = [*errors[:1], *causes[-1:]] or [line for line in lines if line][-1:] or ["uv printed nothing"]
    # Package and file names are untrusted text.
    return printable(": ".join(parts))[:REASON_CHARS].rstrip(".")
