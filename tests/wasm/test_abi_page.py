"""Every sentence of the ABI's page is held by a test, and no test names a sentence that there is not."""

from __future__ import annotations

import re

from tests.docs.walk import ROOT

PAGE = ROOT / "docs" / "reference" / "wasm-abi.md"
SENTENCE = re.compile(r"^- \*\*(WAB-\d+)\*\*", re.MULTILINE)
MARK = re.compile(r"@pytest\.mark\.abi\(([^)]*)\)")


def test_every_sentence_is_tied_to_a_test_and_every_tie_to_a_sentence() -> None:
    stated = SENTENCE.findall(PAGE.read_text("utf-8"))
    marks = [
        mark for path in (ROOT / "tests" / "wasm").glob("test_*.py") for mark in MARK.findall(path.read_text("utf-8"))
    ]
    tied = {name for mark in marks for name in re.findall(r"WAB-\d+", mark)}
    assert stated == [f"WAB-{number}" for number in range(1, len(stated) + 1)]
    assert tied == set(stated)
