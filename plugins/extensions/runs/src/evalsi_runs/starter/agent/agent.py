"""An agent to start from: it looks prices up, adds them, and says which steps it took. No model, no network."""

import re
from typing import Any

PRICES_EUR = {"apple": 0.5, "bread": 3.2, "cheese": 7.9, "tea": 4.1}


def answer(record: dict[str, Any], trial: int) -> dict[str, Any]:
    """Say what the goods of a question cost together; put your own agent in its place.

    Args:
        record: with the question as `input`.
        trial: of the record, from 1.

    Returns:
        The output, and beside it the steps that led there: evaluators read them as `record.trajectory`.
    """
    steps: list[dict[str, Any]] = []
    total_eur = 0.0
    for count, name in re.findall(r"(\d+) (\w+?)s?\b", record["input"]):
        price_eur = PRICES_EUR.get(name)
        steps.append({"type": "tool", "name": "look_up_price", "input": {"name": name}, "output": price_eur})
        if price_eur is None:
            return {"output": f"I know no price of {name}.", "trajectory": {"steps": steps}}
        total_eur += int(count) * price_eur
    # As a model would, it now and then answers from memory: every third trial of a long question skips the sum.
    if len(steps) < 3 or trial % 3:
        steps.append({"type": "tool", "name": "add", "output": total_eur})
        return {"output": f"{total_eur:.2f}", "trajectory": {"steps": steps}}
    return {"output": "about 20", "trajectory": {"steps": steps}}
