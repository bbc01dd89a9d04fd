"""Owns the critical values of Student's t distribution and of the normal distribution that it tends to.

Knows nothing of samples or metrics. Written out because the kernel carries no numeric library.
"""

import math
from functools import lru_cache

# Below this the exact series is quick; from here on the expansion is off by less than 1e-12 (measured).
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
def t_critical(level: float, df: float) -> float:
    """The t for which Student's t with `df` degrees of freedom lies in [-t, t] with probability `level`.

    Agrees with scipy to 1e-9 (relative) for 1 to 10 million degrees of freedom and levels up to 0.9999.

    Args:
        level: confidence level, strictly between 0 and 1.
        df: degrees of freedom, at least 1; they need not be whole.

    Raises:
        ValueError: `level` is not strictly between 0 and 1, or `df` is below 1.

    Source: Abramowitz & Stegun, Handbook of Mathematical Functions (1964), 26.5.4 and 26.7.1-26.7.5.
    """
    require_level(level)
    if df < 1:
        raise ValueError(f"Student's t needs at least 1 degree of freedom, not {df}.")
    z = z_critical(level)
    # A level below the digits of floats has no width, and no slope to climb by.
    return _expansion(z, df) if df >= _EXPANSION_FROM_DF or not z else _root(level, df, z)


def require_level(level: float) -> None:
    """Refuse a confidence level that no interval can have.

    Raises:
        ValueError: `level` is not strictly between 0 and 1.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"A confidence level lies strictly between 0 and 1, not at {level!r}; 0.95 is usual.")


def _expansion(z: float, df: float) -> float:
    """The t quantile as a series in 1/df around the normal quantile (A&S 26.7.5)."""
    s = z * z
    first = z * (s + 1) / 4
    second = z * ((5 * s + 16) * s + 3) / 96
    third = z * (((3 * s + 19) * s + 17) * s - 15) / 384
    fourth = z * ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160
    return z + (first + (second + (third + fourth / df) / df) / df) / df


def _root(level: float, df: float, z: float) -> float:
    """Solve for the angle atan(t / sqrt(df)), in which the probability has a bounded slope."""
    # Concave and rising in the angle, and z lies below t: Newton's steps climb to the root, as in z_critical.
    angle = math.atan(z / math.sqrt(df))
    log_slope = math.log(2.0 / math.sqrt(math.pi)) + math.lgamma((df + 1) / 2) - math.lgamma(df / 2)
    while True:
        missing = level - _probability_within(angle, df)
        higher = angle + missing / math.exp(log_slope + (df - 1) * math.log(math.cos(angle)))
        if not higher - angle > 1e-15 * higher:
            return math.sqrt(df) * math.tan(higher)
        angle = higher


def _probability_within(angle: float, df: float) -> float:
    """P(|T| <= sqrt(df) * tan(angle)), the incomplete beta function of the angle's sine and cosine squared."""
    inside, outside = math.sin(angle) ** 2, math.cos(angle) ** 2
    # The tail keeps its digits where it is small; its series is slow where nearly all lies within it.
    if inside < 0.01:
        return _incomplete_beta(0.5, df / 2, inside, outside)
    return 1.0 - _incomplete_beta(df / 2, 0.5, outside, inside)


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function at x, with rest = 1 - x, by its series (A&S 26.5.4), slow near 1."""
    term = total = 1.0
    step = 0
    while term > 1e-17 * total:
        term *= (a + b + step) / (a + 1 + step) * x
        total += term
        step += 1
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + b * math.log(rest)
    return math.exp(front) * math.pow(x, a) / a * total
