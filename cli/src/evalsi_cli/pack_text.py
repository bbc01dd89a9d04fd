"""Format a pack and its evaluators as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsi_cli.listing import Trust, judge_calls, publisher_of
from evalsi_kernel.packs.pack_info import PYTHON, EvaluatorInfo, OutputInfo, PackInfo

if TYPE_CHECKING:
    from evalsi_kernel.planning.environments import EnvironmentState

# One encoder for all defaults: `json.dumps` would create one for each.
_AS_TEXT = json.JSONEncoder(ensure_ascii=False).encode
_STATES: Mapping[EnvironmentState, str] = {
    "ready": "ready",
    "missing": "environment not built yet",
    "broken": "environment broken",
    "no lock": "no uv.lock",
}


class PackText(NamedTuple):
    """The cacheable text of a pack, without colours and the state of its environment.

    Args:
        folder: folder of the pack.
        runtime: runtime of the pack.
        name: name of the pack.
        version: version of the pack.
        whose: trust and publisher.
        summary: one line of description.
        evaluators: lines of the evaluators.
    """

    folder: str
    runtime: str
    name: str
    version: str
    whose: str
    summary: str
    evaluators: str

    def header(self, environment: EnvironmentState) -> str:
        """Return the heading of the pack after its name."""
        state = _STATES[environment] if self.runtime == PYTHON else f"runs as {self.runtime}"
        return f" {self.version} ({self.whose}; {state}): {self.summary}"


def text_of(pack: PackInfo, evaluators: Iterable[EvaluatorInfo], trust: Trust) -> PackText:
    """Return a pack with some of its evaluators as text, without line wrapping."""
    publisher = publisher_of(pack, trust)
    whose = f"{trust}, by {publisher}" if publisher else trust
    text = "\n".join(line for one in evaluators for line in _evaluator_lines(pack, one))
    return PackText(str(pack.folder), pack.runtime, pack.name, pack.version, whose, pack.summary, text)


def _evaluator_lines(pack: PackInfo, evaluator: EvaluatorInfo) -> Iterator[str]:
    yield f"  {evaluator.name}@{evaluator.version}  {evaluator.summary}"
    if evaluator.needs:
        yield f"      needs: {', '.join(evaluator.needs)}"
    if evaluator.asks:
        yield f"      asks: {_asks(pack, evaluator)}"
    if evaluator.outputs:
        yield f"      gives: {', '.join(_output(output, evaluator) for output in evaluator.outputs)}"
    params = list(_params(evaluator.params))
    if params:
        yield f"      params: {', '.join(params)}"


def _asks(pack: PackInfo, evaluator: EvaluatorInfo) -> str:
    calls = judge_calls(pack, evaluator)
    asks = ", ".join(evaluator.asks)
    if calls == 0:
        return asks
    return f"{asks} (any number of questions a record)" if calls is None else f"{asks} (at most {calls} a record)"


def _output(output: OutputInfo, evaluator: EvaluatorInfo) -> str:
    name = output.name or evaluator.name
    if output.kind != "number":
        return f"{name} ({output.kind})"
    low = "" if output.minimum is None else f"{output.minimum:g}"
    high = "" if output.maximum is None else f"{output.maximum:g}"
    span = f"{low}…{high}" if low or high else "number"
    return f"{name} ({' '.join(part for part in (span, output.unit) if part)})"


def _params(schema: Mapping[str, Any]) -> Iterable[str]:
    required = schema.get("required", ())
    for name, param in schema.get("properties", {}).items():
        if "default" in param:
            yield f"{name}={_AS_TEXT(param['default'])}"
        else:
            yield name if name in required else f"{name}=none"
