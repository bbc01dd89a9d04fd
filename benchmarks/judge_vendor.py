"""`python -m benchmarks.judge_vendor`: the vendor on this machine, with answers that the compared tools can read.

Every tool asks in its own words, some with a schema and some with an example of JSON in the prompt; what an answer says
is the same for all: three claims, each of them supported. It takes the flags of `python -m tests.providers`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from tests.providers import Request, matching
from tests.providers.__main__ import main

REASON: Final = "The texts say so in their second sentence, and nothing else in them speaks against it."
CLAIMS: Final = (
    "The ferry leaves from the old harbour at dawn.",
    "The bank across the river opens in the morning.",
    "A spare key lies under the blue pot at the gate.",
)
_GRADE: Final = {"reason": REASON, "score": 4, "passed": True, "explanation": REASON}

# What stands in the prompts of those who give no schema to the API, and what they read.
_PLAIN: Final = matching(
    {
        # RAGAS names the form that it wants by its class.
        "NLIStatementOutput": {"statements": [{"statement": one, "reason": REASON, "verdict": 1} for one in CLAIMS]},
        "StatementGeneratorOutput": {"statements": list(CLAIMS)},
        # DeepEval asks four times, with an example each. Its prompt for claims speaks of truths as well.
        "the 'verdicts' key": {"verdicts": [{"verdict": "yes"} for _ in CLAIMS]},
        'the "claims" key': {"claims": list(CLAIMS)},
        'the "truths" key': {"truths": list(CLAIMS)},
        "the 'reason' key": {"reason": REASON},
        # Inspect looks for a grade at the end.
        "GRADE: $LETTER": f"{REASON}\nGRADE: C",
    }
)


def answer(request: Request) -> Any:
    """What a judge would say that finds everything supported."""
    schema = request.schema
    if not isinstance(schema, Mapping):
        return _PLAIN(request)
    parts = schema.get("properties", {})
    if "claims" in parts:
        plain = parts["claims"].get("items", {}).get("type") == "string"
        return _said({"claims": CLAIMS if plain else [{"claim": one, "supported": True} for one in CLAIMS]})
    if any(name.startswith("statement_") for name in parts):
        return _said({name: {"reason": REASON, "verdict": "supported"} for name in parts})
    return _said({name: _GRADE.get(name, REASON) for name in parts})


def _said(value: Any) -> str:
    return json.dumps(value)


if __name__ == "__main__":
    raise SystemExit(main(answer))
