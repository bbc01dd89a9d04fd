"""Owns the percentile bootstrap of a mean over independent units (records, or whole clusters).

Knows nothing of metrics, nor of what stands in where the sample has no spread.
"""

from array import array

from evalsi_kernel.scores.intervals import Interval, percentile_interval


class PercentileBootstrap:
    """The middle `level` of the means of resamples that are drawn from the units with replacement.

    Args:
        resamples: how many; 2,000 place the ends of a 95 % interval to about 2 % of its width.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13; whole clusters as units as in
    Davison & Hinkley, Bootstrap Methods and their Application (1997), section 3.8.
    """

    name = "bootstrap"

    def __init__(self, resamples: int = 2_000) -> None:
        self.resamples = resamples

    def interval(self, sums: "array[float]", counts: "array[float]", level: float, seed: int) -> Interval | None:
        """The interval of sum(sums) / sum(counts).

        Args:
            sums: the sum of each unit's values.
            counts: how many values each unit holds, above 0.
            level: confidence level, strictly between 0 and 1.
            seed: seed of the draws; units are sorted first, so the order in which they came does not matter.

        Returns:
            The interval, or None without units, where the ends coincide (all resamples agree), and for levels that
            need more resamples to have one beyond each end (with 2,000 those above 0.999).
        """
        if not counts:
            return None
        # numpy takes longer to import than most runs take to score; it comes only with the first interval.
        from .resampling import resampled_means

        return percentile_interval(resampled_means(sums, counts, self.resamples, seed).tolist(), level)
