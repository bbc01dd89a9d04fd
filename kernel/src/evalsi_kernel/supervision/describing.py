"""Asks a pack what it holds, outside of any evaluation.

It must not know a catalog or a manifest.
"""

from __future__ import annotations

from typing import Any

from evalsi_kernel.supervision.event_loop import run_in_loop
from evalsi_kernel.supervision.launch import Launch
from evalsi_kernel.supervision.worker import start_worker


def describe(launch: Launch) -> list[dict[str, Any]]:
    """Start the pack, ask for its evaluators, end it; returns a table an evaluator.

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
