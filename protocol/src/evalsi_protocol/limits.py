"""Limits of protocol v1, used by both sides and the specification."""

from __future__ import annotations

from typing import Final

MAJORS: Final = (1,)
"""Supported protocol majors, in ascending order."""

MAX_FRAME_BYTES: Final = 64 * 1024 * 1024
"""Maximum size of a frame without its 4-byte length, unless `hello` lowers it."""

MIN_FRAME_BYTES: Final = 64 * 1024
"""Minimum of `max_frame_bytes` in `hello`. Smaller values are raised to it, so that an error always fits."""

TARGET_FRAME_BYTES: Final = 48 * 1024
"""Target size of a frame of records or items. In measurements 32 to 64 kB was best."""

DEFAULT_WINDOW: Final = 4
"""Maximum number of open requests in one direction, unless `hello` says otherwise."""

MAX_DEPTH: Final = 128
"""Maximum nesting depth of a body. A sender stays below; a receiver survives any depth."""

MAX_METHOD_CHARS: Final = 64
"""Maximum length of a method name."""

MAX_ERROR_CHARS: Final = 4000
"""Maximum length of the message and the hint of an error; a sender truncates longer ones."""
