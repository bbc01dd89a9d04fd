"""Every metric of RAGAS that runs here, a row each, in the order of the catalog.

Those that do not run here, and names that mean one of these, stand in `elsewhere.py`; a test compares both with what
RAGAS exports.
"""

from __future__ import annotations

from evalsi_ragas.table_of_agents import AGENT_ROWS
from evalsi_ragas.table_of_criteria import CRITERIA_ROWS
from evalsi_ragas.table_of_rag import RAG_ROWS
from evalsi_ragas.table_of_texts import TEXT_ROWS

ROWS = (*RAG_ROWS, *TEXT_ROWS, *AGENT_ROWS, *CRITERIA_ROWS)
