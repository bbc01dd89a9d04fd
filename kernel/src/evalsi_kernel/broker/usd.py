"""Dollars as whole picodollars, whose sums are exact and the same in any order, and how an amount is shown.

It must not know what costs what.
"""

from __future__ import annotations

from math import floor, log10

PICO = 10**12
"""A token at $0.000001 a million is one picodollar: no price in use is finer."""


def picodollars(usd: float) -> int:
    """Dollars as picodollars."""
    return round(usd * PICO)


def shown_usd(usd: float, *, at_least: bool = False) -> str:
    """An amount for a person: cents, and below ten of them the first two digits.

    Args:
        usd: not below 0.
        at_least: it is what is known of a greater amount; it is then never rounded up.
    """
    amount = picodollars(usd)
    digits = 2 if amount == 0 or amount >= PICO // 10 else min(12, 1 - floor(log10(amount / PICO)))
    step = 10 ** (12 - digits)
    steps = amount // step if at_least else (amount + step // 2) // step
    return f"{'≥ ' if at_least else ''}${steps / 10**digits:,.{digits}f}"
