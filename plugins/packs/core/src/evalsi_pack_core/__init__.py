"""Deterministic checks: matching, JSON, length, latency, tokens and cost."""

from __future__ import annotations

from evalsi_pack_core.json_checks import JsonEqual, json_valid
from evalsi_pack_core.json_schema import JsonSchema
from evalsi_pack_core.matching import Contains, ExactMatch, FuzzyMatch, RegexMatch
from evalsi_pack_core.measures import cost, latency, length, token_usage
from evalsi_pack_core.numeric_match import NumericMatch

EVALUATORS = [
    ExactMatch,
    Contains,
    RegexMatch,
    FuzzyMatch,
    NumericMatch,
    json_valid,
    JsonSchema,
    JsonEqual,
    length,
    latency,
    token_usage,
    cost,
]
