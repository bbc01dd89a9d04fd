"""Data of a listing of evaluators that is not in manifests: publisher, trust and judge calls."""

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
        needs: fields that the evaluator must need, all of them.
        judge: True for evaluators that call a judge, False for those that do not; None for both.
        words: words that must all occur in a name or summary of the evaluator or its pack.
    """

    needs: Sequence[str] = ()
    judge: bool | None = None
    words: Sequence[str] = ()

    @property
    def is_all(self) -> bool:
        """Whether all evaluators match."""
        return self.judge is None and not self.needs and not self.words


def check_needs(fields: Iterable[str]) -> None:
    """Raise `UsageError` if records have no such field. Maps such as `metadata` may have any key."""
    for field in fields:
        if field.partition(".")[0] not in NEEDED_FIELDS:
            raise UsageError(f"--needs {field} is not a field that evaluators can need.", choose(field, NEEDED_FIELDS))


def publisher_of(pack: PackInfo, trust: Trust) -> str:
    """Return the publisher of a pack; "" if unknown."""
    return pack.publisher or (OWN_PUBLISHER if trust != "community" else "")


def trusts_of(packs: Iterable[PackInfo]) -> dict[Path, Trust]:
    """Return folder → trust of each pack: bundled packs are `native`, or `wrapped` if they wrap another framework."""
    own = set(bundled_packs())

    def trust(pack: PackInfo) -> Trust:
        if pack.publisher or pack.folder.parent not in own:
            return "community"
        return "wrapped" if pack.wraps else "native"

    return {pack.folder: trust(pack) for pack in packs}


def judge_calls(pack: PackInfo, evaluator: EvaluatorInfo) -> int | None:
    """Return the maximum number of model calls for one record; None if it depends on the record or is unknown."""
    if NO_MODEL.isdisjoint(evaluator.asks):
        return 0
    most: int | None = pack.permissions.get("asks_per_record", {}).get(evaluator.name)
    return most


def selected(pack: PackInfo, wanted: Wanted) -> tuple[EvaluatorInfo, ...]:
    """Return the matching evaluators of a pack."""
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
