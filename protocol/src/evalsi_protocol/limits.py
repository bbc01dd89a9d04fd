"""The numbers of protocol v1. Both ends and the specification take them from here."""

from __future__ import annotations

from typing import Final

MAJORS: Final = (1,)
"""The protocol majors that this library speaks, best last."""

MAX_FRAME_BYTES: Final = 64 * 1024 * 1024
"""The largest frame, its 4-byte length not counted, that either side accepts unless `hello` lowers it."""

MIN_FRAME_BYTES: Final = 64 * 1024
"""The smallest `max_frame_bytes` of a `hello`; a smaller one is read as this, so that an error always fits."""

TARGET_FRAME_BYTES: Final = 48 * 1024
"""How much a sender packs into one frame of records or items; measured best between 32 and 64 kB."""

DEFAULT_WINDOW: Final = 4
"""How many requests may be open in one direction unless `hello` says otherwise."""

MAX_DEPTH: Final = 128
"""How deep a body may nest. A sender stays below; a receiver survives anything."""

MAX_METHOD_CHARS: Final = 64
"""How long a method's name may be."""

MAX_ERROR_CHARS: Final = 4000
"""How long the message or the hint of an error may be; a sender cuts what is longer."""
