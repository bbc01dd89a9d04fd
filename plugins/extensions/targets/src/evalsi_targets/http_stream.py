"""A streamed answer of a service over HTTP put together: its pieces of text, and what its events say besides.

It must not know how the answer came.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from evalsi_kernel.records.mapping import MISSING

from .reply_paths import found_or_missing


class NotAStream(ValueError):
    """A piece of the stream that is none: the piece, and what is wrong with it."""

    def __init__(self, piece: str, why: str) -> None:
        super().__init__(why)
        self.piece = piece
        self.why = why


def put_together(pieces: Iterable[str], delta_path: str | None, others: Mapping[str, str | None]) -> dict[str, Any]:
    """The output, and the last thing that was said of each of the others.

    Args:
        pieces: of the stream: the data of each event, or each line.
        delta_path: where the text is in each; None where each is text itself.
        others: by name, where else something is; None looks for nothing.

    Raises:
        NotAStream: a piece is no JSON, or what is no text stands where text should.
    """
    texts: list[str] = []
    found: dict[str, Any] = {}
    is_json = delta_path is not None or any(path is not None for path in others.values())
    for piece in pieces:
        value = _parsed(piece) if is_json else piece
        delta = piece if delta_path is None else found_or_missing(value, delta_path)
        if isinstance(delta, str):
            texts.append(delta)
        elif delta is not MISSING and delta is not None:
            raise NotAStream(piece, f"has no text at {delta_path}")
        for name, path in others.items():
            said = found_or_missing(value, path)
            if said is not MISSING and said is not None:
                found[name] = said
    return {"output": "".join(texts), **found}


def _parsed(piece: str) -> Any:
    try:
        return json.loads(piece)
    except (ValueError, RecursionError):
        raise NotAStream(piece, "is no JSON") from None
