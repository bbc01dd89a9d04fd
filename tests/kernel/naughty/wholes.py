"""Evaluators of the whole data that misbehave, one way each. Run in a process of their own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evalsi import Record, Score, evaluator


@evaluator(scope="dataset")
class LongestOutput:
    """The longest output's length; raises, dies or answers nonsense where the output says so."""

    def observe(self, record: Record) -> Any:
        text = record.output.as_text()
        if text == "raise":
            raise ValueError("cannot observe that")
        if text == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return float("nan") if text == "nan" else len(text)

    def aggregate(self, states: Sequence[int]) -> Score:
        return Score(value=max(states))


@evaluator(scope="dataset")
class LargeStates:
    """Keeps a megabyte of each record."""

    def observe(self, record: Record) -> str:
        return record.output.as_text() * 1_000_000

    def aggregate(self, states: Sequence[str]) -> Score:
        return Score(value=sum(map(len, states)))


@evaluator(scope="dataset")
class BreaksAtTheEnd:
    """Aggregates in one of several bad ways."""

    def __init__(self, *, how: str, mark: str = "") -> None:
        self.how = how
        self.mark = mark

    def observe(self, record: Record) -> int:
        return 1

    def aggregate(self, states: Sequence[int]) -> Any:
        if self.how == "dies" or (self.how == "dies once" and not Path(self.mark).exists()):
            if self.mark:
                Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        while self.how == "hangs":
            time.sleep(0.01)
        if self.how == "raises":
            raise RuntimeError("no whole")
        return {"nan": float("nan"), "nothing": None}.get(self.how, len(states))
