"""Reads how long a service asks to wait.

It must not know whether anyone waits.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_s(said: str | None) -> float | None:
    """How long `Retry-After` asks to wait, in seconds, or as a date; None where it does not say."""
    if said is None:
        return None
    try:
        seconds = float(said)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(said)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())
