"""DeepEval's metrics as evaluators; one row of a table each. DeepEval itself is imported when a session opens."""

from __future__ import annotations

import os

from evalsi_deepeval.conversation_metrics import METRICS
from evalsi_deepeval.evaluators import evaluator_of

# Before DeepEval is imported: no telemetry, no file of settings or keys, no service, no time limit of its own, and no
# judge but the one that it is given.
os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_DISABLE_LEGACY_KEYFILE": "1",
    "DEEPEVAL_DISABLE_TIMEOUTS": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "DEEPEVAL_EVAL_MODE": "llm",
    "CONFIDENT_TRACING_ENABLED": "NO",
}

EVALUATORS = [evaluator_of(metric) for metric in METRICS]
