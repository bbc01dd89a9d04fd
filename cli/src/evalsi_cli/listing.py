"""What a listing of evaluators says beyond their manifests: whose they are, how far to trust them, what they cost.

It must not know how it is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.errors import UsageError
from evalsi_kernel.files.paths import bundled_packs
from evalsi_kernel.packs.pack_info import EvaluatorInfo, PackInfo
from evalsi_kernel.records.mapping import FIELDS

Trust = Literal["native", "wrapped", "community"]
OWN_PUBLISHER = "evalsi"
NEEDED_FIELDS = tuple(field for field in FIELDS if field != "id")
NO_MODEL = frozenset({"judge", "embed"})


class Wanted(NamedTuple):
    """Which evaluators to list.

    Args:
        needs: fields; only those that need each of them.
        judge: only those that ask a judge, or only those that ask none; None takes both.
        words: only those that have each word in a name or a summary, of their own or of their pack.
    """

    needs: Sequence[str] = ()
    judge: bool | None = None
    words: Sequence[str] = ()

    @property
    def is_all(self) -> bool:
        """Whether every evaluator is wanted."""
        return self.judge is None and not self.needs and not self.words


def check_needs(fields: Iterable[str]) -> None:
    """See that records have such fields; raises `UsageError`. Maps such as `metadata` may hold anything."""
    for field in fields:
        if field.partition(".")[0] not in NEEDED_FIELDS:
            raise UsageError(f"--needs {field} is no field that an evaluator could need.", choose(field, NEEDED_FIELDS))


def publisher_of(pack: PackInfo, trust: Trust) -> str:
    """Who brings a pack; "" where nobody says."""
    return pack.publisher or (OWN_PUBLISHER if trust != "community" else "")


def trusts_of(packs: Iterable[PackInfo]) -> dict[Path, Trust]:
    """Of each pack's folder: `native` came with Evals.si, `wrapped` too but the scores are another framework's."""
    own = set(bundled_packs())

    def trust(pack: PackInfo) -> Trust:
        if pack.publisher or pack.folder.parent not in own:
            return "community"
        return "wrapped" if pack.wraps else "native"

    return {pack.folder: trust(pack) for pack in packs}


def judge_calls(pack: PackInfo, evaluator: EvaluatorInfo) -> int | None:
    """The most questions to a model for one record; None where that depends on the record, or nobody says."""
    if NO_MODEL.isdisjoint(evaluator.asks):
        return 0
    most: int | None = pack.permissions.get("asks_per_record", {}).get(evaluator.name)
    return most


def selected(pack: PackInfo, wanted: Wanted) -> tuple[EvaluatorInfo, ...]:
    """The evaluators of a pack that are wanted."""
    if wanted.is_all:
        return pack.evaluators
    of_pack = f"{pack.name} {pack.summary}".lower()
    return tuple(one for one in pack.evaluators if _is_wanted(one, of_pack, wanted))


def _is_wanted(evaluator: EvaluatorInfo, of_pack: str, wanted: Wanted) -> bool:
    if wanted.judge is not None and ("judge" in evaluator.asks) != wanted.judge:
        return False
    fields = {*evaluator.needs, *(need.partition(".")[0] for need in evaluator.needs)}
    text = f"{of_pack} {evaluator.name} {evaluator.summary}".lower()
    return fields.issuperset(wanted.needs) and all(word.lower() in text for word in wanted.words)
