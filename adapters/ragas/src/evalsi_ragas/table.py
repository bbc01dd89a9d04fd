"""All RAGAS metrics that run here, one row each, in catalog order.

`elsewhere.py` lists aliases and metrics that cannot run here; a test compares both with the exports of RAGAS.
"""

from __future__ import annotations

from evalsi_ragas.table_of_agents import AGENT_ROWS
from evalsi_ragas.table_of_criteria import CRITERIA_ROWS
from evalsi_ragas.table_of_rag import RAG_ROWS
from evalsi_ragas.table_of_texts import TEXT_ROWS

ROWS = (*RAG_ROWS, *TEXT_ROWS, *AGENT_ROWS, *CRITERIA_ROWS)
