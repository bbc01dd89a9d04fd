"""RAGAS metrics as evaluators, one per row of the table.

RAGAS itself is imported when an evaluator is first opened, so the pack starts quickly.
"""

from __future__ import annotations

import os

# RAGAS and LangChain read these on import. The first must be exactly "true"; with "1" RAGAS would send telemetry.
os.environ.update(RAGAS_DO_NOT_TRACK="true", LANGCHAIN_TRACING_V2="false", LANGSMITH_TRACING="false")

from evalsi_ragas.evaluators import evaluator_of
from evalsi_ragas.table import ROWS

EVALUATORS = [evaluator_of(row) for row in ROWS]
