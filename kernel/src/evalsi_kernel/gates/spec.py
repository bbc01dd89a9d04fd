"""What a gate asks for: the model of an entry of `gates`.

It must not know how a gate is judged, nor which metrics there are.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.checking.toml_tables import FilledLine, Misfit, Table
from evalsi_kernel.checking.value_schema import shown

Stat = Literal["mean", "lower", "upper", "n", "errors", "skipped", "truncated", "filtered", "error_rate", "skip_rate"]
STATS: tuple[str, ...] = get_args(Stat)
_WrittenStat = Stat | Annotated[str, Field(pattern="^GATE_STAT_[A-Z_]+$")]
_WrittenSlice = FilledLine | dict[str, str | float | bool] | None
_PREFIX = "gate_stat_"
_OTHER_NAMES = {"ci_low": "lower", "ci_high": "upper"}


def slice_value(value: Any) -> str | None:
    """A value of the metadata as the name of a slice, 1.0 being 1; None where it is no text, number or truth value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(int(value)) if value == int(value) else str(value)
    return value if isinstance(value, str) else None


def _stat(value: Any) -> Any:
    if not isinstance(value, str):
        raise Misfit(f"must be one of {', '.join(STATS)}, not {shown(value)}")
    name = value.strip().lower().removeprefix(_PREFIX).replace("-", "_")
    name = _OTHER_NAMES.get(name, name)
    if name not in STATS:
        raise Misfit(f"is {shown(value)}, which is no statistic of a metric", choose(name, STATS))
    return name


def _slice(value: Any) -> Any:
    if isinstance(value, str) and value.strip():
        return value
    if not isinstance(value, dict):
        raise Misfit(f"must be a metadata key, or one key and its value, not {shown(value)}")
    if len(value) != 1:
        raise Misfit(f"names {len(value)} keys, and a gate looks at one", "Write a gate for each.")
    [(key, wanted)] = value.items()
    name = slice_value(wanted)
    if name is None or not isinstance(key, str) or not key.strip():
        raise Misfit(f"must map a metadata key to text or a number, not to {shown(wanted)}")
    return {key: name}


class GateSpec(Table):
    """One gate: a statistic of a metric, and the bounds that it is held to."""

    metric: FilledLine = Field(description="the metric, as the run's summary names it")
    min: float | None = Field(default=None, allow_inf_nan=False, description="the least that the statistic may be")
    max: float | None = Field(default=None, allow_inf_nan=False, description="the most that the statistic may be")
    stat: Annotated[Stat, BeforeValidator(_stat, json_schema_input_type=_WrittenStat)] = Field(
        default="mean",
        description="mean, lower or upper (ends of its interval), a rate, or a count; truncated and filtered count "
        "replies of the target",
    )
    when: FilledLine | None = Field(
        default=None, description="CEL over name, project, labels, trials, target, dataset and source"
    )
    slice: Annotated[
        FilledLine | dict[str, str] | None, BeforeValidator(_slice, json_schema_input_type=_WrittenSlice)
    ] = Field(
        default=None, description="a metadata key, each value of which must pass, or {key: value} for that one alone"
    )
    baseline: FilledLine | None = Field(
        default=None, description="a results file to compare with, relative to the spec"
    )
    max_drop: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="how much worse than the baseline the mean may be"
    )
    significant: bool = Field(
        default=False,
        description="a drop fails only where the paired difference is significant, "
        "with p adjusted for all such gates of the run (Holm)",
    )
    max_error_rate: float = Field(default=0.0, ge=0, le=1, description="errors / (scored + errors) above it: undecided")
    max_skip_rate: float = Field(default=0.5, ge=0, le=1, description="skipped / all above it: undecided")
    undecided: Literal["fail", "pass"] | None = Field(
        default=None, description="what it counts as when undecided; by default what the run says"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> GateSpec:
        if self.min is None and self.max is None and self.max_drop is None:
            raise Misfit("has no bound", "Add min, max, or baseline with max_drop.")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise Misfit(f"has min {self.min:g} above max {self.max:g}, which nothing can pass", "Exchange the two.")
        if (beyond := self._out_of_reach()) is not None:
            raise beyond
        if self.max_drop is not None and self.baseline is None:
            raise Misfit("has max_drop and no baseline", "Add baseline: and the path of a results file.")
        if self.baseline is not None and self.max_drop is None:
            raise Misfit("has a baseline and no max_drop", "Add max_drop: 0 where nothing may be lost.")
        if self.significant and self.baseline is None:
            raise Misfit("is significant without a baseline", "Add baseline and max_drop, or leave it out.")
        if self.baseline is not None and self.stat != "mean":
            raise Misfit(f"compares {self.stat} with a baseline", "Only a mean can be compared: leave stat out.")
        if self.significant and self.slice is not None:
            raise Misfit("is significant and has a slice", "Pairs are found over all records: leave one of them out.")
        return self

    def _out_of_reach(self) -> Misfit | None:
        """The error of a bound that the statistic cannot meet whatever the metric is; None without one."""
        if self.stat in ("mean", "lower", "upper"):
            return None
        if self.max is not None and self.max < 0:
            return Misfit(f"has max {self.max:g} for {self.stat}, which is never below 0", "Write 0 or more.")
        if self.stat.endswith("_rate") and self.min is not None and self.min > 1:
            return Misfit(f"has min {self.min:g} for {self.stat}, which is never above 1", "Write a share such as 0.5.")
        return None

    @property
    def slice_key(self) -> str | None:
        """The metadata key that it slices by; None where it holds for all records together."""
        return next(iter(self.slice)) if isinstance(self.slice, dict) else self.slice
