"""Deterministic checks: matching, JSON, length, latency, tokens and cost."""

from __future__ import annotations

from evalsi_pack_core.json_checks import JsonEqual, JsonSchema, json_valid
from evalsi_pack_core.matching import FuzzyMatch, RegexMatch, contains, exact_match, numeric_match
from evalsi_pack_core.measures import cost, latency, length, token_usage

EVALUATORS = [
    exact_match,
    contains,
    RegexMatch,
    FuzzyMatch,
    numeric_match,
    json_valid,
    JsonSchema,
    JsonEqual,
    length,
    latency,
    token_usage,
    cost,
]
