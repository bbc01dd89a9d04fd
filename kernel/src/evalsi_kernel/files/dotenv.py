"""Read API keys from the file `.env` in the working directory, by the name of the variable.

The environment takes precedence and is not changed. The file is ignored if another user owns it or others may write to
it.
"""

from __future__ import annotations

import os
import re
import stat

FILE = ".env"
MAX_BYTES = 64 * 1024
_LINE = re.compile(
    r"""\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:"([^"\n]*)"(?:\s+\#.*)?|'([^'\n]*)'(?:\s+\#.*)?|([^\n]*?))\s*"""
)


def variable(name: str) -> str | None:
    """Return the value of a variable from the environment, or else from `.env`; None where neither has it.

    Lines are `NAME=value`, optionally with `export` before and quotes around the value; `#` begins a comment. Variables
    are not expanded. The last of several values wins.
    """
    if name in os.environ:
        return os.environ[name]
    found = None
    for line in _text().splitlines():
        match = _LINE.fullmatch(line)
        if match is None or match[1] != name:
            continue
        quoted = match[2] if match[2] is not None else match[3]
        found = quoted if quoted is not None else re.sub(r"\s+#.*", "", match[4]).strip()
    return found


def _text() -> str:
    """Return the content of the file; "" where it is missing or not trusted."""
    try:
        with open(FILE, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
            about = os.fstat(file.fileno())
            is_own = about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if not stat.S_ISREG(about.st_mode) or not is_own or about.st_size > MAX_BYTES:
                return ""
            return file.read(MAX_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return ""
