"""What a run is to do: the models of an `EvalRun` document.

It must not know the file that a document comes from, nor how anything in it is done.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from evalsi_kernel.checking.toml_tables import FilledLine, Line, Table
from evalsi_kernel.gates.spec import GateSpec

API_VERSION: Final = "evals.si/v1alpha1"
KIND: Final = "EvalRun"
MOST_TRIALS = 1_000
_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")


def seconds(value: Any) -> Any:
    """A duration such as `90s`, `10m` or `1.5h` in seconds; what is none is left for the model to refuse."""
    if isinstance(value, str) and (found := _DURATION.fullmatch(value.strip())):
        return float(found[1]) * _UNITS_S[found[2]]
    return value


def _ci_method(value: Any) -> Any:
    """`CI_METHOD_BOOTSTRAP` and `bootstrap` are the same."""
    return value.removeprefix("CI_METHOD_").lower() if isinstance(value, str) else value


def _stopping(value: Any) -> Any:
    """`true` means early stopping as it comes, `false` none."""
    return {} if value is True else None if value is False else value


_Written = Annotated[str, Field(pattern=rf"^{_DURATION.pattern}$")] | Annotated[float, Field(gt=0)]
Duration = Annotated[
    float,
    Field(gt=0, description="a duration such as 90s, 10m or 1.5h"),
    BeforeValidator(seconds, json_schema_input_type=_Written),
]
Name = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        description="a name of letters, digits, dots, dashes and underscores",
    ),
]


class Metadata(Table):
    """What a run is called."""

    name: Name | None = Field(
        default=None, description="a name of letters, digits, dots, dashes and underscores; by default the file's"
    )
    labels: dict[str, str] = Field(default_factory=dict, description="words to find runs by")
    project: Line | None = Field(default=None, description="short for the label evals.si/project")


class TargetSpec(Table):
    """What is asked for outputs; its other keys are those of its connector."""

    model_config = ConfigDict(strict=True, extra="allow")

    connector: FilledLine = Field(description="http, python, command, replay, or a model's connector")
    max_concurrency: int = Field(default=64, ge=1, le=10_000, description="calls at once")

    @property
    def options(self) -> dict[str, Any]:
        """The keys of its connector."""
        return dict(self.model_extra or {})


class InlineData(Table):
    """Records that stand in the spec itself."""

    records: list[dict[str, Any]] = Field(min_length=1, description="the records")


class DatasetSpec(Table):
    """Where the records come from: exactly one of `path`, `uri` and `inline`."""

    path: FilledLine | None = Field(default=None, description="a file, relative to the spec's")
    uri: FilledLine | None = Field(
        default=None, description="such as hf://repo?split=test; a relative path in it is relative to the spec"
    )
    inline: InlineData | None = Field(default=None, description="records that stand here")
    mapping: dict[str, FilledLine] = Field(default_factory=dict, description="field: column; dots reach inside")
    limit: int | None = Field(default=None, ge=1, description="take the first so many records only")

    @property
    def named(self) -> list[str]:
        """The keys among path, uri and inline that are given."""
        return [key for key in ("path", "uri", "inline") if getattr(self, key) is not None]


def _evaluator(value: Any) -> Any:
    return {"ref": value} if isinstance(value, str) else value


class EvaluatorSpec(Table):
    """One evaluator of the run; a text alone is its ref."""

    ref: FilledLine = Field(description="as `evalsi catalog` names it, or ./file.py:function, or module:function")
    name: FilledLine | None = Field(default=None, description="what to call it in this run")
    params: dict[str, Any] = Field(default_factory=dict, description="its params")
    when: FilledLine | None = Field(
        default=None, description="CEL over record and the scores of evaluators before it; where false, it is skipped"
    )


class SummarySpec(Table):
    """How scores are summed up."""

    confidence_level: float = Field(default=0.95, gt=0, lt=1, description="level of the intervals")
    cluster_by: FilledLine | None = Field(default=None, description="metadata key of correlated records")
    ci_method: Annotated[FilledLine, BeforeValidator(_ci_method)] = Field(
        default="auto", description="auto, or an interval method such as bootstrap"
    )
    slice_by: list[FilledLine] = Field(default_factory=list, description="metadata keys; each value is summed up apart")


class BudgetSpec(Table):
    """The most that a run may take, with all its attempts together but for the clock."""

    max_target_tokens: int | None = Field(default=None, ge=1, description="prompts and replies of the target")
    max_judge_tokens: int | None = Field(default=None, ge=1, description="prompts and replies of judges")
    max_target_usd: float | None = Field(default=None, gt=0, description="USD for the target")
    max_judge_usd: float | None = Field(default=None, gt=0, description="USD for judges")
    max_wall_clock: Duration | None = Field(default=None, description="after so long no new call is made")

    @property
    def is_of_target(self) -> bool:
        """Whether it limits what the target may take."""
        return self.max_target_tokens is not None or self.max_target_usd is not None


class StopSpec(Table):
    """Early stopping."""

    error_rate: float = Field(default=0.05, gt=0, lt=1, description="how often a decision may be wrong, over all gates")


class Spec(Table):
    """What a run does."""

    target: TargetSpec = Field(description="what is asked for outputs")
    dataset: DatasetSpec = Field(description="the records")
    evaluators: list[
        Annotated[EvaluatorSpec, BeforeValidator(_evaluator, json_schema_input_type=FilledLine | EvaluatorSpec)]
    ] = Field(min_length=1, description="what scores the outputs; a text alone is the ref of an evaluator")
    trials: int = Field(default=1, ge=1, le=MOST_TRIALS, description="how often each record is run")
    summary: SummarySpec = Field(default_factory=SummarySpec, description="how scores are summed up")
    gates: list[GateSpec] = Field(default_factory=list, description="what must hold; one that fails gives exit code 3")
    undecided: Literal["fail", "pass"] = Field(default="fail", description="what an undecided gate counts as")
    stop_when_decided: Annotated[
        StopSpec | None, BeforeValidator(_stopping, json_schema_input_type=bool | StopSpec | None)
    ] = Field(default=None, description="true, or how: stop as soon as all gates are decided")
    budget: BudgetSpec = Field(default_factory=BudgetSpec, description="the most that the run may take")


class RunDocument(Table):
    """An `EvalRun` document."""

    apiVersion: Literal["evals.si/v1alpha1"] = Field(default=API_VERSION, description="the version of this form")
    kind: Literal["EvalRun"] = Field(default=KIND, description="what this document is")
    metadata: Metadata = Field(default_factory=Metadata, description="what the run is called")
    spec: Spec = Field(description="what it does")

    @property
    def project(self) -> str | None:
        """The project, as named or as labelled."""
        return self.metadata.project or self.metadata.labels.get("evals.si/project")
