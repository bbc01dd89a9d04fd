"""`python -m benchmarks.judge_vendor`: the vendor on this machine, with answers that the compared tools can read.

Every tool asks in its own words, some with a schema and some with an example of JSON in the prompt; what an answer says
is the same for all: three claims, each of them supported. A claim names the letter that the question is about, so that
no two records lead to the same question. It takes the flags of `python -m tests.providers`.
"""

from __future__ import annotations

import json
import re
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
_LETTER: Final = re.compile(r"[Ll]etter \d+")
# What the adapters' questions ask for, each alone.
_LISTS: Final = ("truths", "verdicts", "statements")
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
    reply = _reply(request)
    said = reply if isinstance(reply, str) else json.dumps(reply)
    letter = _LETTER.search(request.prompt)
    if letter is not None:
        for claim in CLAIMS:
            said = said.replace(claim, f"{claim[:-1]}, says {letter[0]}.")
    return said


def _reply(request: Request) -> Any:
    schema = request.schema
    if not isinstance(schema, Mapping):
        return _PLAIN(request)
    parts = schema.get("properties", {})
    if listed := next((name for name in _LISTS if name in parts), ""):
        return {listed: _list(listed, parts[listed]["items"])}
    if "claims" in parts:
        plain = parts["claims"].get("items", {}).get("type") == "string"
        return {"claims": CLAIMS if plain else [{"claim": one, "supported": True} for one in CLAIMS]}
    if any(name.startswith("statement_") for name in parts):
        return {name: {"reason": REASON, "verdict": "supported"} for name in parts}
    return {name: _GRADE.get(name, REASON) for name in parts}


def _list(name: str, item: Mapping[str, Any]) -> list[Any]:
    """What the adapters of DeepEval and RAGAS ask for: texts, or a verdict on each of them."""
    if item.get("type") == "string":
        return list(CLAIMS)
    if name == "verdicts":
        return [{"verdict": "yes", "reason": REASON} for _ in CLAIMS]
    return [{"statement": claim, "reason": REASON, "verdict": 1} for claim in CLAIMS]


if __name__ == "__main__":
    raise SystemExit(main(answer))
