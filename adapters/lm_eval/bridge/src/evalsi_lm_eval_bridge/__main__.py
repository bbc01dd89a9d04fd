"""`evalsi-lm-eval`: the command of the harness, with the model `evalsi` added to its models.

The harness has no entry points for models: a model must be registered before its command starts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from lm_eval import evaluator
from lm_eval.__main__ import cli_evaluate

from evalsi_lm_eval_bridge.generation import CannotGenerate
from evalsi_lm_eval_bridge.model import GENERATES, EvalsiModel, NoAnswers, NoLikelihood, no_likelihood


def main() -> int:
    """Run the command of the harness with the arguments of this one, and return the exit code."""
    refuse_likelihoods_early()
    try:
        cli_evaluate()
    except (CannotGenerate, NoAnswers, NoLikelihood) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def refuse_likelihoods_early() -> None:
    """Make the harness reject tasks that need log-likelihoods before it sends the requests of any task."""
    evaluate = evaluator.evaluate

    def checked(lm: Any, task_dict: Any, *arguments: Any, **named: Any) -> Any:
        # With --use_cache the harness wraps the model.
        if isinstance(getattr(lm, "lm", lm), EvalsiModel):
            rejected = [name for name, task in tasks_of(task_dict) if task.OUTPUT_TYPE != GENERATES]
            if rejected:
                raise no_likelihood(tasks=rejected)
        return evaluate(lm, task_dict, *arguments, **named)

    evaluator.evaluate = checked


def tasks_of(tree: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and task for each task of the harness: up to 0.4.11 in nested groups, later under `tasks`."""
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from tasks_of(value)
        elif hasattr(value, "OUTPUT_TYPE"):
            yield str(name), value


if __name__ == "__main__":
    raise SystemExit(main())
