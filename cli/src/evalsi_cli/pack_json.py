"""Format a pack with its evaluators, and a listing of packs, as JSON."""

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
    """The cacheable JSON of a pack, without the state of its environment.

    Args:
        folder: folder of the pack.
        runtime: runtime of the pack.
        before: JSON text before the state.
        after: JSON text after the state.
    """

    folder: str
    runtime: str
    before: str
    after: str


def json_of(pack: PackInfo, evaluators: Iterable[EvaluatorInfo], trust: Trust) -> PackJson:
    """Return a pack with some of its evaluators as JSON."""
    # Quotes inside values are escaped, so that no value of a pack can match the key.
    text = as_json(_table(pack, evaluators, trust)).replace("\n", "\n    ")
    before, key, after = text.partition(_STATE)
    return PackJson(str(pack.folder), pack.runtime, before + key, after)


def listing_json(packs: Iterable[PackJson], states: Iterable[EnvironmentState]) -> str:
    """Return the listing of packs with the states of their environments."""
    entries = [f"{pack.before}{state}{pack.after}" for pack, state in zip(packs, states, strict=True)]
    listed = ",\n    ".join(entries)
    return f'{{\n  "packs": [\n    {listed}\n  ]\n}}' if entries else as_json({"packs": []})


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
