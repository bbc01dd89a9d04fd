"""Variables that a command may take from the file `.env` in the working directory: keys, by the names that are needed.

Only the named variable is read, the environment always comes first, and nothing is put into the environment. The
file is ignored where another user owns it or others may write to it.
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

    Lines are `NAME=value`, also with `export` before and quotes around the value; `#` begins a comment. There is no
    expansion of other variables. Of a name that is given twice the last value counts.
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
    """The file's text; "" where there is none that may be trusted."""
    try:
        with open(FILE, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
            about = os.fstat(file.fileno())
            is_own = about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if not stat.S_ISREG(about.st_mode) or not is_own or about.st_size > MAX_BYTES:
                return ""
            return file.read(MAX_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return ""
