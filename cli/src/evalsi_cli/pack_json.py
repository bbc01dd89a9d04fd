"""How a pack and its evaluators read as JSON, and a listing of packs.

It must not know which packs are listed, nor what is kept of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsi_cli.listing import Trust, judge_calls, publisher_of
from evalsi_cli.terminal import as_json
from evalsi_kernel.packs.pack_info import EvaluatorInfo, PackInfo

if TYPE_CHECKING:
    from evalsi_kernel.planning.environments import EnvironmentState

_STATE = '"environment": "'


class PackJson(NamedTuple):
    """A pack as JSON in a listing, but for whether its environment is there, which is looked up each time.

    Args:
        folder: where it lies.
        runtime: what runs it.
        before: what stands before that state.
        after: what stands behind it.
    """

    folder: str
    runtime: str
    before: str
    after: str


def json_of(pack: PackInfo, evaluators: Iterable[EvaluatorInfo], trust: Trust) -> PackJson:
    """A pack with these of its evaluators as JSON."""
    # No name or text of a pack can be taken for the key: the quotes within one have a backslash before them.
    text = as_json(_table(pack, evaluators, trust)).replace("\n", "\n    ")
    before, key, after = text.partition(_STATE)
    return PackJson(str(pack.folder), pack.runtime, before + key, after)


def listing_json(packs: Iterable[PackJson], states: Iterable[EnvironmentState]) -> str:
    """The listing of packs with the states of their environments."""
    told = [f"{pack.before}{state}{pack.after}" for pack, state in zip(packs, states, strict=True)]
    listed = ",\n    ".join(told)
    return f'{{\n  "packs": [\n    {listed}\n  ]\n}}' if told else as_json({"packs": []})


def _table(pack: PackInfo, evaluators: Iterable[EvaluatorInfo], trust: Trust) -> dict[str, Any]:
    return {
        "name": pack.name,
        "version": pack.version,
        "publisher": publisher_of(pack, trust),
        "trust": trust,
        "summary": pack.summary,
        "wraps": pack.wraps,
        "runtime": pack.runtime,
        "environment": "",
        "folder": str(pack.folder),
        "permissions": dict(pack.permissions),
        "evaluators": [one.to_dict() | {"ref": one.ref, "judge_calls": judge_calls(pack, one)} for one in evaluators],
    }
