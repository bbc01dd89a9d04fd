"""Interface of the builder of pack environments, which an extension implements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from evalsi_kernel.packs.environment_plan import EnvironmentPlan, Stamp


class EnvironmentBuilder(Protocol):
    """Builds environments from hash-locked lock files only."""

    def build(
        self, plan: EnvironmentPlan, *, unwanted: Stamp | None, on_progress: Callable[[str], None], offline: bool
    ) -> Stamp:
        """Build an environment, or use what another process has built meanwhile.

        The environment is put in place atomically, with its stamp written last. For a complete environment, only check
        that the lock matches the dependencies in the pack's `pyproject.toml`, and record that in `plan.agreement`.

        Args:
            plan: what to build and where.
            unwanted: stamp of a build from which the pack does not start. Only that build is replaced, unless it is
                intact, so that the fault is the pack's.
            on_progress: receives a line when a build, or a wait for another process's build, starts and ends.
            offline: download nothing.

        Raises:
            PackEnvironmentError: with a code `environment.*`.
        """

    def about(self) -> str:
        """Return what builds environments, such as a path; raise `PackEnvironmentError` without it."""

    def walls(self) -> dict[str, bool]:
        """Return what a project's packs are isolated from on this host, for `evalsi doctor`: "network" → bool."""

    def absent(self) -> dict[str, tuple[str, ...]]:
        """Return the missing packs of this folder's project: full name → names of their evaluators.

        Raises:
            ConfigError: the project's file of packs cannot be read.
        """
