"""Owns what a calibration finds: every figure over the pairs, and sentences on those that say nothing.

It must not know how pairs came about, nor how figures are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from evalsi_kernel.errors import ConfigError

from .bias import Bias, bias, bias_per_score
from .comparison import MAX_CATEGORIES, Comparison
from .confusion import Confusion, PassRates, confusion, pass_rates
from .kappa import Kappa, kappa, quadratic_weights
from .labels import FAIL, PASS
from .length_bias import Compared, LengthBias, length_bias
from .pairs import Pair
from .position_bias import PositionBias, position_bias
from .rank_correlation import spearman


class Agreement(NamedTuple):
    """The figures. One that does not apply to such labels is None; so is one that is undefined, and a note says why.

    Args:
        n: how many pairs.
        matrix: people in rows, the evaluator in columns; None for numbers that are no steps of a scale.
        kappa: Cohen's, of the matrix.
        quadratic_kappa: quadratic-weighted, of steps of a scale.
        rates: where the categories are pass and fail.
        bias: of numbers, from 0 to 1.
        bias_per_score: by each score that people gave, of steps of a scale.
        rank_correlation: Spearman's, of numbers.
        position_bias: where two outputs were compared in both orders.
        length_bias: where two outputs were compared.
        disagreements: the worst first, of equal ones in the order of the data.
        notes: sentences.
    """

    n: int
    matrix: Confusion | None = None
    kappa: Kappa | None = None
    quadratic_kappa: Kappa | None = None
    rates: PassRates | None = None
    bias: Bias | None = None
    bias_per_score: Mapping[str, Bias] = MappingProxyType({})
    rank_correlation: float | None = None
    position_bias: PositionBias | None = None
    length_bias: LengthBias | None = None
    disagreements: tuple[Pair, ...] = ()
    notes: tuple[str, ...] = ()


def agreement_of(
    pairs: Sequence[Pair],
    comparison: Comparison,
    level: float,
    longer_by: Mapping[str, int] | None = None,
) -> Agreement:
    """Every figure.

    Args:
        pairs: what people and the evaluator say.
        comparison: how the two are compared.
        level: of the intervals, between 0 and 1.
        longer_by: record id → by how many characters its output is longer than the other one; None without another.

    Raises:
        ConfigError: the evaluator gives more different labels than a matrix can hold.
    """
    found = Agreement(len(pairs), disagreements=disagreements(pairs))
    if comparison.categories:
        matrix = confusion(
            [(pair.human.category, pair.judge.category) for pair in pairs], _categories(pairs, comparison)
        )
        found = found._replace(matrix=matrix, kappa=kappa(matrix.counts))
        if matrix.categories == (PASS, FAIL):
            found = found._replace(rates=pass_rates(matrix))
    if comparison.kind in ("steps", "numbers"):
        found = _with_numbers(found, pairs, comparison, level)
    if comparison.kind == "labels":
        found = found._replace(position_bias=position_bias(pair.metadata for pair in pairs))
        if longer_by is not None:
            found = found._replace(length_bias=length_bias(_compared(pairs, longer_by)))
    return found._replace(notes=tuple(_notes(found, comparison)))


def disagreements(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """The pairs that do not agree, those furthest apart first."""
    return tuple(sorted((pair for pair in pairs if not pair.agrees), key=lambda pair: -pair.distance))


def _with_numbers(found: Agreement, pairs: Sequence[Pair], comparison: Comparison, level: float) -> Agreement:
    places = [(pair.human.place or 0.0, pair.judge.place or 0.0) for pair in pairs]
    found = found._replace(
        bias=bias(places, level),
        rank_correlation=spearman([human for human, _ in places], [judge for _, judge in places]),
    )
    if comparison.kind != "steps" or found.matrix is None:
        return found
    assert comparison.label_scale is not None
    weights = quadratic_weights([float(step) for step in found.matrix.categories])
    per_score = {
        f"{round(comparison.label_scale.value(score)):g}": one for score, one in bias_per_score(places, level).items()
    }
    return found._replace(quadratic_kappa=kappa(found.matrix.counts, weights), bias_per_score=per_score)


def _categories(pairs: Sequence[Pair], comparison: Comparison) -> tuple[str, ...]:
    """Those of the comparison, then labels that only the evaluator gives."""
    others = sorted({pair.judge.category for pair in pairs} - set(comparison.categories))
    categories = (*comparison.categories, *others)
    if len(categories) > MAX_CATEGORIES:
        raise ConfigError(
            f"{comparison.metric} gives {len(others):,} labels that people do not use.",
            "Choose an evaluator that gives the labels of people.",
        )
    return categories


def _compared(pairs: Sequence[Pair], longer_by: Mapping[str, int]) -> list[Compared]:
    return [
        Compared(longer_by[pair.record_id], pair.human.category, pair.judge.category)
        for pair in pairs
        if pair.record_id in longer_by
    ]


def _notes(found: Agreement, comparison: Comparison) -> Iterator[str]:
    if found.matrix is not None:
        yield from _notes_on_categories(found.matrix, found.kappa, comparison)
    elif not found.n:
        return
    else:
        yield (
            "These labels are no steps of a scale, so no two are the same: there is neither agreement nor kappa. "
            "Use --threshold to compare what passes."
        )
    if found.bias is not None and found.rank_correlation is None:
        yield "The rank correlation is undefined: what people or the evaluator say is the same for every record."


def _notes_on_categories(matrix: Confusion, agreed: Kappa | None, comparison: Comparison) -> Iterator[str]:
    categories = matrix.categories
    by_people = [name for name, row in zip(categories, matrix.counts, strict=True) if any(row)]
    by_judge = [name for name, column in zip(categories, zip(*matrix.counts, strict=True), strict=True) if any(column)]
    if agreed is None:
        yield f"Kappa is undefined: people and the evaluator say nothing but {', '.join(by_people) or 'nothing'}."
    elif len(by_people) == 1:
        yield f"Of what was compared people say {by_people[0]} throughout, so that kappa tells nothing."
    elif len(by_judge) == 1:
        yield f"The evaluator says {by_judge[0]} throughout, so that kappa tells nothing."
    elif not agreed.error:
        why = "Full agreement leaves" if agreed.value == 1 else "These counts leave"
        yield f"{why} kappa without an interval; that of the agreement holds."
    if comparison.kind == "labels":
        for who, here, there in (("people", by_people, by_judge), ("the evaluator", by_judge, by_people)):
            alone = [name for name in here if name not in there]
            if alone:
                yield f"Only {who} say{'s' if who != 'people' else ''} {', '.join(alone)}."
