"""Ask a pack for its evaluators, outside of any evaluation."""

from __future__ import annotations

from typing import Any

from evalsi_kernel.supervision.event_loop import run_in_loop
from evalsi_kernel.supervision.launch import Launch
from evalsi_kernel.supervision.worker import start_worker


def describe(launch: Launch) -> list[dict[str, Any]]:
    """Start a pack, ask for its evaluators, and end it; return one table per evaluator.

    Raises:
        PackError, PackEnvironmentError: it cannot start.
    """

    async def ask() -> list[dict[str, Any]]:
        worker = await start_worker(launch)
        try:
            answer = await worker.describe()
        finally:
            await worker.stop()
        tables: list[dict[str, Any]] = answer.get("evaluators", [])
        return tables

    return run_in_loop(ask)
