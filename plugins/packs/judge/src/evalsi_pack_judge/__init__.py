"""Verdicts of a judge model: grades by a rubric, comparisons of two outputs, lists of criteria."""

from __future__ import annotations

from evalsi_pack_judge.criteria import Criteria
from evalsi_pack_judge.llm_judge import LlmJudge
from evalsi_pack_judge.pairwise import Pairwise

EVALUATORS = [LlmJudge, Pairwise, Criteria]
