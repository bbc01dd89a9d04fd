"""The seam of what builds environments: what an extension must do for a pack whose environment is not ready.

It must not know how one is built, nor with which tool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from evalsi_kernel.packs.environment_plan import EnvironmentPlan, Stamp


class EnvironmentBuilder(Protocol):
    """Builds environments from locks with hashes, and from nothing else."""

    def build(
        self, plan: EnvironmentPlan, *, unwanted: Stamp | None, on_progress: Callable[[str], None], offline: bool
    ) -> Stamp:
        """Make an environment whole, or take what another process has made of it meanwhile.

        It is put in place as a whole or not at all, its stamp written last. One that is whole is checked only: whether
        its lock is of the dependencies that the pack's `pyproject.toml` names now, which `plan.agreement` then notes.

        Args:
            plan: what to build and where.
            unwanted: the stamp of a build from which the pack does not start: it alone is replaced, unless it is found
                to be what was built, so that the fault is the pack's.
            on_progress: gets a line when a build, or a wait for another process's build, starts and ends.
            offline: fetch nothing.

        Raises:
            PackEnvironmentError: codes `environment.*`.
        """

    def about(self) -> str:
        """What builds, for `evalsi doctor`, such as a program's path; raises `PackEnvironmentError` without it."""

    def walls(self) -> dict[str, bool]:
        """What a pack that was added to a project is kept from here, for `evalsi doctor`: "network" → whether it is."""

    def absent(self) -> dict[str, tuple[str, ...]]:
        """Full name → evaluators of each pack that was added to the project in this folder, and is not there.

        Raises:
            ConfigError: what the project says of its packs cannot be read.
        """
