"""Log every raw reply of a run once under its reference, for results.json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evalsi_kernel.files.line_spool import LineSpool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evalsi_kernel.broker.ask import Reply
    from evalsi_kernel.broker.judge_key import JudgeKey

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class ReplyLog:
    """Raw replies in a file until the end of the run; memory holds eight bytes for each.

    Args:
        folder: folder of the file; None means the system's temporary folder.
        on_line: receives each logged line, for a second log.

    Attributes:
        lines: the replies as lines of JSON.

    Raises:
        OSError: the folder is not writable; `add` raises it too when the disk is full.
    """

    def __init__(self, folder: Path | None, on_line: Callable[[str], object] | None = None) -> None:
        self._on_line = on_line
        self.lines = LineSpool(folder)
        self._known: set[int] = set()

    def add(self, ref: str, key: JudgeKey, role: str, reply: Reply, problem: str = "") -> None:
        """Log a reply unless its reference is already logged; `problem` says why it is not a valid answer."""
        number = int(ref, 16)
        if number in self._known:
            return
        self._known.add(number)
        entry: dict[str, Any] = {
            "ref": ref,
            "key": key.digest,
            "fields": dict(key.fields),
            "role": role,
            "model": reply.model,
            "provider_id": reply.provider_id,
            "finish": reply.finish,
            "form": reply.form,
            "tokens": reply.tokens._asdict(),
            # A lone surrogate has no UTF-8 encoding; write it escaped.
            "text": reply.text.encode("utf-8", "backslashreplace").decode(),
        }
        if problem:
            entry["problem"] = problem
        line = _encode(entry)
        self.lines.append([line])
        if self._on_line is not None:
            self._on_line(line)

    def restore(self, line: str) -> None:
        """Add a reply that an earlier attempt logged."""
        self._known.add(int(json.loads(line)["ref"], 16))
        self.lines.append([line])
