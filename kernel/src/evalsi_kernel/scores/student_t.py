"""Owns the critical values of Student's t distribution and of the normal distribution that it tends to.

Knows nothing of samples or metrics. Written out because the kernel carries no numeric library.
"""

import math
from functools import lru_cache

# Below this the exact finite series is quick; from here on the expansion is off by less than 1e-12 (measured).
_EXPANSION_FROM_DF = 1000


@lru_cache(maxsize=256)
def z_critical(level: float) -> float:
    """The z for which a standard normal variable lies in [-z, z] with probability `level`.

    Args:
        level: confidence level, strictly between 0 and 1.

    Raises:
        ValueError: `level` is not strictly between 0 and 1.
    """
    require_level(level)
    # erf is concave and rising for z > 0, so Newton's steps from 0 climb to the root and never pass it.
    z = 0.0
    while True:
        missing = math.erfc(z / math.sqrt(2.0)) - (1.0 - level)
        higher = z + missing / (2.0 * math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi))
        if not higher - z > 1e-15 * higher:
            return higher
        z = higher


@lru_cache(maxsize=1024)
def t_critical(level: float, df: int) -> float:
    """The t for which Student's t with `df` degrees of freedom lies in [-t, t] with probability `level`.

    Agrees with scipy to 1e-9 (relative) for 1 to 10 million degrees of freedom and levels up to 0.9999.

    Args:
        level: confidence level, strictly between 0 and 1.
        df: degrees of freedom, at least 1.

    Raises:
        ValueError: `level` is not strictly between 0 and 1, or `df` is below 1.

    Source: Abramowitz & Stegun, Handbook of Mathematical Functions (1964), 26.7.3-26.7.5.
    """
    require_level(level)
    if df < 1:
        raise ValueError(f"Student's t needs at least 1 degree of freedom, not {df}.")
    z = z_critical(level)
    return _expansion(z, df) if df >= _EXPANSION_FROM_DF else _root(level, df, z)


def require_level(level: float) -> None:
    """Refuse a confidence level that no interval can have.

    Raises:
        ValueError: `level` is not strictly between 0 and 1.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"A confidence level lies strictly between 0 and 1, not at {level!r}; 0.95 is usual.")


def _expansion(z: float, df: int) -> float:
    """The t quantile as a series in 1/df around the normal quantile (A&S 26.7.5)."""
    s = z * z
    first = z * (s + 1) / 4
    second = z * ((5 * s + 16) * s + 3) / 96
    third = z * (((3 * s + 19) * s + 17) * s - 15) / 384
    fourth = z * ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160
    return z + (first + (second + (third + fourth / df) / df) / df) / df


def _root(level: float, df: int, z: float) -> float:
    """Solve for the angle atan(t / sqrt(df)), in which the probability is a finite trigonometric series."""
    # Concave and rising in the angle, and z lies below t: Newton's steps climb to the root, as in z_critical.
    angle = math.atan(z / math.sqrt(df))
    log_slope = math.log(2.0 / math.sqrt(math.pi)) + math.lgamma((df + 1) / 2) - math.lgamma(df / 2)
    while True:
        missing = level - _probability_within(angle, df)
        higher = angle + missing / math.exp(log_slope + (df - 1) * math.log(math.cos(angle)))
        if not higher - angle > 1e-15 * higher:
            return math.sqrt(df) * math.tan(higher)
        angle = higher


def _probability_within(angle: float, df: int) -> float:
    """P(|T| <= sqrt(df) * tan(angle)), exact for whole df (A&S 26.7.3 for odd, 26.7.4 for even)."""
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = df % 2
    term = cosine if odd else 1.0
    total = term if df > 1 else 0.0
    for k in range(2 + odd, df - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    return 2.0 / math.pi * (angle + sine * total) if odd else sine * total
