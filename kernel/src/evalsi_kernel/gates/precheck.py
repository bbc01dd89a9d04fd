"""Gates looked at before anything is paid for: that metrics, conditions and baselines are what the run will have.

It must not know how a gate is judged once there are results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evalsi_kernel.extensions import Extensions
from evalsi_kernel.gates.baseline import Measured
from evalsi_kernel.gates.conditions import Condition
from evalsi_kernel.instances import Instance

if TYPE_CHECKING:
    from evalsi_kernel.gates.spec import GateSpec


class GatePlan(NamedTuple):
    """Gates that can be judged.

    Args:
        gates: as the spec has them.
        conditions: the compiled `when` of each, None where it has none.
        baselines: by the path that a gate writes.
        ranges: metric → (minimum, maximum), for metrics whose range is declared; pass/fail metrics have (0, 1).
        warnings: a sentence for what can be known only when the run is over.
    """

    gates: tuple[GateSpec, ...] = ()
    conditions: tuple[Condition | None, ...] = ()
    baselines: Mapping[str, Measured] = {}
    ranges: Mapping[str, tuple[float, float]] = {}
    warnings: tuple[str, ...] = ()

    @property
    def slice_keys(self) -> list[str]:
        """The metadata keys by which summaries are needed."""
        raise NotImplementedError

    @property
    def paired_metrics(self) -> set[str]:
        """The metrics whose values by record are needed, as `RecordValues`."""
        raise NotImplementedError


def plan_gates(
    gates: Sequence[GateSpec], instances: Sequence[Instance], *, trials: int, folder: Path, extensions: Extensions
) -> GatePlan:
    """Check gates against what will run, and make ready what they need.

    Args:
        gates: as the spec has them.
        instances: the evaluators that will run.
        trials: how often each record runs.
        folder: what the paths of baselines are relative to.
        extensions: where the engine of conditions comes from.

    Raises:
        ConfigError: `config.gate`; one error tells all that is wrong, each with its place, such as `gates[1].metric`.
    """
    raise NotImplementedError
