"""Owns the drawings of a page, as SVG made here: intervals, shares and distributions.

Places are in per cent of the width, so that a drawing fits any; colours are classes of the page's style. Each says in
words what it shows. It must not know what a report is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from .figures import counted, figure

BINS = 20
# Some servers show pages without their styles; drawings then keep these colours.
_LINE, _INK = 'stroke="#999"', 'stroke="#2f5bd8"'
_FILLS = {"pass": "#14794b", "fail": "#c02b23", "undecided": "#935a00", "bar": "#2f5bd8", "rest": "#e1e5eb"}


class Scale(NamedTuple):
    """A range of values, drawn from the left to the right."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Where a value stands, in per cent; what lies beyond an end stands at it."""
        if self.high <= self.low:
            return 50.0
        return round(min(100.0, max(0.0, (value - self.low) / (self.high - self.low) * 100)), 2)


class Bin(NamedTuple):
    """One bar of a distribution."""

    low: float
    high: float
    holds: int


def bins_of(values: Sequence[float], scale: Scale, bins: int = BINS) -> list[Bin]:
    """Count values in bars of equal width; one at the upper end is in the last bar."""
    width = (scale.high - scale.low) / bins
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, max(0, int((value - scale.low) / width)))] += 1
    return [Bin(scale.low + width * place, scale.low + width * (place + 1), one) for place, one in enumerate(counts)]


def interval_chart(
    scale: Scale,
    value: float,
    low: float | None,
    high: float | None,
    *,
    tone: str = "plain",
    least: float | None = None,
    most: float | None = None,
    middle: bool = False,
) -> Markup:
    """A value with its interval; where bounds are given, what lies beyond them is shaded.

    Args:
        scale: the range to draw.
        value, low, high: of the metric.
        tone: a class for the colour: plain, pass, fail or undecided.
        least, most: the bounds of a gate.
        middle: whether the middle of the range is marked, where it means no difference.
    """
    level = 14
    parts = [f'<line class="axis" {_LINE} x1="0" x2="100%" y1="{level}" y2="{level}"/>']
    if middle:
        parts.append(f'<line class="axis" {_LINE} x1="50%" x2="50%" y1="2" y2="26"/>')
    told = [f"{figure(value)}"]
    if least is not None:
        at = scale.place(least)
        parts.append(f'<rect class="beyond" fill="#f4d9d6" x="0" y="3" width="{at}%" height="22" rx="2"/>')
        parts.append(f'<line class="bound" stroke="#c02b23" x1="{at}%" x2="{at}%" y1="1" y2="27"/>')
        told.append(f"at least {figure(least)} asked for")
    if most is not None:
        at = scale.place(most)
        parts.append(
            f'<rect class="beyond" fill="#f4d9d6" x="{at}%" y="3" width="{round(100 - at, 2)}%" height="22" rx="2"/>'
        )
        parts.append(f'<line class="bound" stroke="#c02b23" x1="{at}%" x2="{at}%" y1="1" y2="27"/>')
        told.append(f"at most {figure(most)} asked for")
    if low is not None and high is not None:
        left, right = scale.place(low), scale.place(high)
        parts.append(
            f'<line class="whisker {tone}" {_INK} stroke-width="5" '
            f'x1="{left}%" x2="{right}%" y1="{level}" y2="{level}"/>'
            f'<line class="end {tone}" {_INK} x1="{left}%" x2="{left}%" y1="{level - 5}" y2="{level + 5}"/>'
            f'<line class="end {tone}" {_INK} x1="{right}%" x2="{right}%" y1="{level - 5}" y2="{level + 5}"/>'
        )
        told.insert(1, f"interval from {figure(low)} to {figure(high)}")
    parts.append(f'<circle class="point {tone}" cx="{scale.place(value)}%" cy="{level}" r="4.5"/>')
    words = f"{', '.join(told)}; drawn from {figure(scale.low)} to {figure(scale.high)}"
    return _svg("interval", 28, words, parts)


def share_chart(shares: Sequence[tuple[str, int, str]]) -> Markup:
    """Shares of a whole as one bar.

    Args:
        shares: the name, the count and the class for the colour of each.
    """
    total = sum(count for _, count, _ in shares) or 1
    parts, at = [], 0.0
    for _, count, tone in shares:
        width = count / total * 100
        if width:
            parts.append(
                f'<rect class="{tone}" fill="{_FILLS[tone]}" x="{at:.3f}%" y="4" width="{width:.3f}%" height="14"/>'
            )
        at += width
    words = ", ".join(f"{count:,} {name}" for name, count, _ in shares if count)
    return _svg("share", 22, words or "nothing", parts)


def histogram(bins: Sequence[Bin], height: int, *, mean: float | None = None) -> Markup:
    """A distribution; the mean as a line."""
    most = max((one.holds for one in bins), default=0) or 1
    total = sum(one.holds for one in bins)
    scale = Scale(bins[0].low, bins[-1].high)
    width = 100 / len(bins)
    parts = []
    for place, one in enumerate(bins):
        # A bar of one record among thousands must still be seen.
        tall = max(1.5, one.holds / most * (height - 4)) if one.holds else 0
        if tall:
            tip = f"{figure(one.low)} to {figure(one.high)}: {one.holds:,}"
            parts.append(
                f'<rect class="bar" fill="#2f5bd8" x="{place * width + width * 0.06:.2f}%" y="{height - tall:.1f}" '
                f'width="{width * 0.88:.2f}%" height="{tall:.1f}" rx="1"><title>{tip}</title></rect>'
            )
    parts.append(f'<line class="axis" {_LINE} x1="0" x2="100%" y1="{height - 0.5}" y2="{height - 0.5}"/>')
    if mean is not None:
        at = scale.place(mean)
        parts.append(f'<line class="mean" {_LINE} x1="{at}%" x2="{at}%" y1="0" y2="{height}"/>')
    peak = max(bins, key=lambda one: one.holds)
    words = (
        f"Distribution of {counted(total, 'value')} from {figure(scale.low)} to {figure(scale.high)}; "
        f"most, {peak.holds:,}, lie between {figure(peak.low)} and {figure(peak.high)}"
    )
    return _svg("histogram", height, words, parts)


def _svg(kind: str, height: int, words: str, parts: Sequence[str]) -> Markup:
    return Markup(
        f'<svg class="chart {kind}" role="img" width="100%" height="{height}" aria-label="{escape(words)}">'
        f"{''.join(parts)}</svg>"
    )
