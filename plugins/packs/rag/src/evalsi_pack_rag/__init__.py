"""Retrieval-augmented generation: faithfulness, relevance, context precision and recall, citations."""

from __future__ import annotations

from evalsi_pack_rag.answer_relevance import AnswerRelevance
from evalsi_pack_rag.citation_accuracy import CitationAccuracy
from evalsi_pack_rag.context_precision import ContextPrecision
from evalsi_pack_rag.context_recall import ContextRecall
from evalsi_pack_rag.faithfulness import faithfulness

EVALUATORS = [faithfulness, AnswerRelevance, ContextPrecision, ContextRecall, CitationAccuracy]
