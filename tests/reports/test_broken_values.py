"""A results file in which any value is another one becomes a report, or is refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi_kernel.errors import ConfigError
from evalsi_reports.html_page import html_page
from evalsi_reports.json_digest import json_digest
from evalsi_reports.junit import junit
from evalsi_reports.markdown_page import markdown_page
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import read_report
from tests.reports.comparer import COMPARER
from tests.reports.results_files import run, summary_of

OTHERS = st.sampled_from([None, True, -1, 1e308, 10**400, "", "word", [], [None], {}, {"a": [{"b": None}]}])


def whole() -> dict[str, Any]:
    """A small file with everything in it."""
    found = run(3, 2)
    found["summaries"].append(
        summary_of("form", "form", "label", [], labels={"short": 2}, judge={"calls": 3, "cost_usd": 0.1})
    )
    found["summaries"][0]["judge"] = {"calls": 1, "cost_usd": None, "unknown": 1}
    found["manifest"] |= {
        "error": {"code": "a.b", "message": "It broke."},
        "judge": {"roles": {"primary": {"model": "judge-1"}}, "calls": 2, "cost_usd": 0.2, "unknown": 0},
        "stopped_early": {"items": 3, "of": 9, "saved": 6, "error_rate": 0.05},
    }
    found["gates"][0] |= {"baseline": "main.json", "max_drop": 0.1, "significant": True}
    found["results"].append(
        {"record_id": "", "evaluator": "whole", "evaluator_ref": "a/whole@1", "outcome": "scored", "trial": 1,
         "scores": [{"name": "whole", "value": 3.5}, {"name": "form", "label": "short"}]}
    )  # fmt: skip
    found["records"][0]["provenance"]["run"]["error"] = {"code": "a.b", "message": "It broke."}
    return found


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value in it."""
    if isinstance(value, dict):
        return [way for key, one in value.items() for way in ((*path, key), *places(one, (*path, key)))]
    if isinstance(value, list):
        return [way for key, one in enumerate(value) for way in ((*path, key), *places(one, (*path, key)))]
    return []


PLACES = places(whole())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("broken") / "results.json"


@settings(max_examples=60, deadline=None)
@given(way=st.sampled_from(PLACES), other=OTHERS, redacted=st.booleans())
def test_any_value_may_be_another_one(path: Path, way: tuple[Any, ...], other: Any, redacted: bool) -> None:
    found = whole()
    inner: Any = found
    for key in way[:-1]:
        inner = inner[key]
    inner[way[-1]] = other
    path.write_text(json.dumps(found))
    try:
        report = read_report(path, redaction=Redaction(inputs=redacted), baseline=path, compare=COMPARER)
    except ConfigError:
        return
    for form in (html_page, markdown_page, json_digest, junit):
        assert form(report).encode()
