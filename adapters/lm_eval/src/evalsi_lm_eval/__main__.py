"""`evalsi-lm-eval`: the harness' own command, with the model `evalsi` beside its models.

The harness looks for models nowhere but in its own table, so somebody must put this one in before it starts. It must
not know how a request is answered.
"""

from __future__ import annotations

import sys
from typing import Any

from lm_eval import evaluator
from lm_eval.__main__ import cli_evaluate

from evalsi_lm_eval.generation import CannotGenerate
from evalsi_lm_eval.model import GENERATES, EvalsiModel, NoAnswers, NoLikelihood, no_likelihood


def main() -> int:
    """Run the command of the harness with the arguments of this one; returns the exit code."""
    refuse_likelihoods_early()
    try:
        cli_evaluate()
    except (CannotGenerate, NoAnswers, NoLikelihood) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def refuse_likelihoods_early() -> None:
    """Have the harness refuse tasks of log-likelihoods before it sends a request of any other."""
    evaluate = evaluator.evaluate

    def checked(lm: Any, task_dict: Any, *arguments: Any, **named: Any) -> Any:
        # With --use_cache the model stands within another.
        if isinstance(getattr(lm, "lm", lm), EvalsiModel) and "tasks" in task_dict:
            tasks = task_dict["tasks"].items()
            wanting = [name for name, task in tasks if getattr(task, "OUTPUT_TYPE", GENERATES) != GENERATES]
            if wanting:
                raise no_likelihood(tasks=wanting)
        return evaluate(lm, task_dict, *arguments, **named)

    evaluator.evaluate = checked


if __name__ == "__main__":
    raise SystemExit(main())
