"""Convert dollars to whole picodollars, whose sums are exact in any order, and format amounts."""

from __future__ import annotations

from math import floor, log10

PICO = 10**12
"""Picodollars per dollar; a token at $0.000001 per million costs one, and no price in use is finer."""


def picodollars(usd: float) -> int:
    """Return dollars as picodollars."""
    return round(usd * PICO)


def shown_usd(usd: float, *, at_least: bool = False) -> str:
    """Format an amount for display: cents, and the first two significant digits below ten cents.

    Args:
        usd: amount in USD, at least 0.
        at_least: the amount is a lower bound; it is then never rounded up and starts with "≥".
    """
    amount = picodollars(usd)
    digits = 2 if amount == 0 or amount >= PICO // 10 else min(12, 1 - floor(log10(amount / PICO)))
    step = 10 ** (12 - digits)
    steps = amount // step if at_least else (amount + step // 2) // step
    return f"{'≥ ' if at_least else ''}${steps / 10**digits:,.{digits}f}"
