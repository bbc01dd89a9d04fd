"""A judge that goes by words, and labelled answers for it, so that every figure of a calibration is known before."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.cli.running import Done, evalsi, write_jsonl
from tests.providers import KEY, MODEL, Provider, Request

PASSES, FAILS, WRONGLY_PASSES = "It is seven.", "It is soon.", "It is surely soon."


def words(request: Request) -> Any:
    """5 for what says seven, 4 for what is sure of itself, else 1; of two outputs the sure one, else the first."""
    texts = blocks(request)
    if "answer" in texts:
        score = 5 if "seven" in texts["answer"] else 4 if "surely" in texts["answer"] else 1
        return {"reason": f"It says: {texts['answer']}", "score": score}
    sure = [name for name in ("a", "b") if "surely" in texts[f"answer_{name}"]]
    return {"reason": "Sure of itself.", "verdict": sure[0] if len(sure) == 1 else "a"}


def blocks(request: Request) -> dict[str, str]:
    """The texts that the question shows, by the names of their blocks."""
    code = re.findall(r"^Code: (\w+)$", request.last_text, re.MULTILINE)[0]
    return dict(re.findall(rf"<(\w+) {code}>\n(.*?)\n</\1 {code}>", request.last_text, re.DOTALL))


def answers(folder: Path, *labelled: tuple[str, Any], key: str = "human") -> Path:
    """A file of outputs with their labels."""
    return write_jsonl(
        folder / "labelled.jsonl",
        [
            {"id": f"r{number}", "input": "When?", "reference": "seven", "output": output, key: label}
            for number, (output, label) in enumerate(labelled, 1)
        ],
    )


def calibrate(provider: Provider, *given: str | Path) -> Done:
    """Run `evalsi calibrate` with this judge and a cache of its own."""
    judge = ("--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "JUDGE_KEY")
    return evalsi("calibrate", *given, *judge, "--no-cache", variables={"JUDGE_KEY": KEY})
