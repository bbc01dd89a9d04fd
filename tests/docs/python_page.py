"""docs/reference/python.md, from the public names of `evalsi` and their docstrings.

It must not know what a name is for; a name that no section takes is an error, so that none is left out.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import evalsi
from evalsi.evaluation import Result
from evalsi_kernel.scores.intervals import Interval
from evalsi_kernel.scores.summaries import Summary
from tests.docs.docstrings import rendered, signature
from tests.docs.markdown import WRITTEN, joined

HEAD = """\
# Python

{written}

```python
import evalsi

result = evalsi.evaluate("examples/quickstart/qa.jsonl", ["exact-match", "latency"])
print(result["latency"].mean)
```

```text
517.5
```

`import evalsi` is quick and loads nothing but what evaluators need; `evaluate` loads the rest on first use.
[Write an evaluator](../how-to/write-an-evaluator.md) and [read results](../how-to/read-results.md) show these at work.
"""
SECTIONS: dict[str, tuple[Any, ...]] = {
    "Score records": (evalsi.evaluate, Result, Summary, Interval),
    "Write evaluators": (
        evalsi.evaluator,
        evalsi.Output,
        evalsi.Param,
        evalsi.Record,
        evalsi.Content,
        evalsi.Score,
        evalsi.serve,
    ),
    "Ask a judge": (evalsi.Context, evalsi.Question, evalsi.JudgeReply),
    "Ask a model": (evalsi.complete, evalsi.Completion),
    "Raise and catch": (
        evalsi.Skip,
        evalsi.ParamError,
        evalsi.ScoreError,
        evalsi.ContentError,
        evalsi.ContentLimitError,
        evalsi.AskError,
    ),
}


def page() -> str:
    """The whole page."""
    lines = [HEAD.format(written=WRITTEN.format(source="evalsi"))]
    for title, targets in SECTIONS.items():
        lines += [f"## {title}", ""]
        for target in targets:
            lines += _section(target)
    return joined(lines)


def left_out() -> set[str]:
    """Public names that no section has."""
    return set(evalsi.__all__) - {target.__name__ for targets in SECTIONS.values() for target in targets}


def _section(target: Any) -> Iterator[str]:
    public = target.__module__.split(".")[0] == "evalsi" and target.__name__ in evalsi.__all__
    yield from (f"### {'evalsi.' if public else ''}{target.__name__}", "")
    is_error = inspect.isclass(target) and issubclass(target, Exception)
    if public and not is_error:
        yield from ("```text", signature(target, target.__name__), "```", "")
    yield from rendered(target)
    yield ""
    if inspect.isclass(target) and not is_error:
        yield from _members(target)


def _members(owner: type) -> Iterator[str]:
    lines = [line for name, member in vars(owner).items() if not name.startswith("_") for line in _member(name, member)]
    if lines:
        yield from ("**Members**", "", *lines, "")


def _member(name: str, member: Any) -> Iterator[str]:
    summary = " ".join((inspect.getdoc(member) or "").partition("\n\n")[0].split())
    if isinstance(member, property):
        yield f"- `.{name}`: {summary}"
    elif inspect.isfunction(member):
        yield f"- `{signature(member, f'.{name}')}`: {summary}"
