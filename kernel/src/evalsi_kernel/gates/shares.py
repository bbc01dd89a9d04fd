"""How much of the data a metric rests on, as shares of errors and of skips.

It must not know what a gate allows of them.
"""


def error_rate_of(n: int, errors: int) -> float:
    """Errors among what an evaluator tried, from 0 to 1; 0 where it tried nothing."""
    return errors / (n + errors) if errors else 0.0


def skip_rate_of(n: int, errors: int, skipped: int) -> float:
    """Skips among all that an evaluator was given, from 0 to 1; 0 where it was given nothing."""
    return skipped / (n + errors + skipped) if skipped else 0.0
