"""RAGAS' metrics as evaluators, one a row of the table.

RAGAS itself is imported when the first of them is opened, so that a pack's greeting does not wait for it.
"""

from __future__ import annotations

import os

# Read when RAGAS and LangChain are imported. The first must be this very word; "1" would let RAGAS report what it does.
os.environ.update(RAGAS_DO_NOT_TRACK="true", LANGCHAIN_TRACING_V2="false", LANGSMITH_TRACING="false")

from evalsi_ragas.evaluators import evaluator_of
from evalsi_ragas.table import ROWS

EVALUATORS = [evaluator_of(row) for row in ROWS]
