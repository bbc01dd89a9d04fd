"""The labelled corpora of the leak checks and of refusals, and what the checks make of them.

The checks were improved after they were measured on these corpora, so the figures only keep them from getting worse.
The README reports how they do on texts that they had not seen: each part of the corpora, measured before it was used.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from plugins.packs.safety.tests.secret_samples import filled

from evalsi import Record
from evalsi.testing import score_all
from evalsi_pack_safety.pii_leak import PiiLeak
from evalsi_pack_safety.refusal import refusal
from evalsi_pack_safety.secret_leak import SecretLeak

FOLDER = Path(__file__).parent / "corpus"

Labelled = tuple[str, str]
"""A kind and the text that is one."""


class Case(NamedTuple):
    """A text, and what is to be found in it."""

    text: str
    found: tuple[Labelled, ...]


class Tally(NamedTuple):
    """How often each kind was found right, found where it is not, and missed."""

    right: Counter[str]
    wrong: Counter[str]
    missed: Counter[str]

    def kinds(self) -> list[str]:
        return sorted({*self.right, *self.wrong, *self.missed})

    def precision(self, *kinds: str) -> float:
        right = sum(self.right[kind] for kind in kinds)
        return right / (right + sum(self.wrong[kind] for kind in kinds))

    def recall(self, *kinds: str) -> float:
        right = sum(self.right[kind] for kind in kinds)
        return right / (right + sum(self.missed[kind] for kind in kinds))


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def leaks(name: str) -> list[Case]:
    return [Case(filled(row["text"]), tuple((kind, filled(text)) for kind, text in row["found"])) for row in rows(name)]


def found_in(evaluator: Any, cases: Iterable[Case]) -> list[tuple[Labelled, ...]]:
    """What a leak check finds in each case: the very characters, not only that there are some."""
    listed = list(cases)
    outcomes = score_all(evaluator, [Record(output=case.text) for case in listed])
    return [
        tuple(
            (one["kind"], case.text[one["start"] : one["end"]])
            for one in (outcome.score.metadata or {}).get("findings", ())
        )
        for case, outcome in zip(listed, outcomes, strict=True)
    ]


def leak_tally(evaluator: Any, name: str) -> Tally:
    counts = Tally(Counter(), Counter(), Counter())
    cases = leaks(name)
    for case, found in zip(cases, found_in(evaluator, cases), strict=True):
        expected, got = Counter(case.found), Counter(found)
        counts.right.update(kind for kind, _ in (expected & got).elements())
        counts.wrong.update(kind for kind, _ in (got - expected).elements())
        counts.missed.update(kind for kind, _ in (expected - got).elements())
    return counts


def refusal_tally() -> Tally:
    counts = Tally(Counter(), Counter(), Counter())
    listed = rows("refusals")
    outcomes = score_all(refusal, [Record(output=row["output"]) for row in listed])
    for row, outcome in zip(listed, outcomes, strict=True):
        label = outcome["refused"].passed
        target = counts.right if label and row["refused"] else counts.wrong if label else counts.missed
        if label or row["refused"]:
            target["refused"] += 1
    return counts


def pii_tally() -> Tally:
    return leak_tally(PiiLeak, "pii")


def secret_tally() -> Tally:
    return leak_tally(SecretLeak, "secrets")
