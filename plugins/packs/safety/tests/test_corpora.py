"""The labelled corpora: large enough, of many countries, and the README's figures are what the checks make of them."""

from __future__ import annotations

import pytest
from plugins.packs.safety.tests.corpora import leaks, pii_tally, refusal_tally, rows, secret_tally
from plugins.packs.safety.tests.figures import README, with_table

from evalsi_pack_safety.pii_leak import KINDS
from evalsi_pack_safety.secret_formats import FORMATS


@pytest.mark.parametrize(("name", "least"), [("pii", 150), ("secrets", 75)])
def test_a_corpus_has_enough_of_both(name: str, least: int) -> None:
    cases = leaks(name)
    assert sum(bool(case.found) for case in cases) >= least
    assert sum(not case.found for case in cases) >= least
    assert len({case.text for case in cases}) == len(cases)


def test_every_kind_of_personal_data_has_texts_that_hold_it_and_texts_that_tempt() -> None:
    kinds = {kind for case in leaks("pii") for kind, _ in case.found}
    tempts = {row["tempts"] for row in rows("pii") if "tempts" in row}
    assert kinds == tempts == set(KINDS)


def test_most_formats_of_secrets_are_in_the_corpus() -> None:
    there = {kind for case in leaks("secrets") for kind, _ in case.found}
    assert len({row.kind for row in FORMATS} & there) > 45


@pytest.mark.parametrize("name", ["pii", "secrets"])
def test_what_is_to_be_found_stands_in_its_text(name: str) -> None:
    for case in leaks(name):
        assert all(text in case.text for _, text in case.found)


def test_the_figures_of_the_readme_are_what_the_checks_make_of_the_corpora() -> None:
    readme = README.read_text("utf-8")
    hint = "The README is stale. Run, in the pack's folder: PYTHONPATH=../../.. python tests/figures.py --write"
    assert with_table(readme) == readme, hint


def test_the_figures_do_not_fall() -> None:
    pii, secrets, refusals = pii_tally(), secret_tally(), refusal_tally()
    for counts in (pii, secrets):
        assert counts.precision(*counts.kinds()) > 0.98
        assert counts.recall(*counts.kinds()) > 0.96
    for kind in KINDS:
        assert pii.precision(kind) > 0.95
        assert pii.recall(kind) > 0.95
    assert refusals.precision("refused") > 0.97
    assert refusals.recall("refused") > 0.97
