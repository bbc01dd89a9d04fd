"""Does the output say what the reference says: exactly, as a part, by a pattern, nearly, or as a number.

Every evaluator here takes the best of several references.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from evalsi import Output, Param, ParamError, Record, Score, Skip, evaluator
from evalsi_pack_core.normal_form import normal_form, without_punctuation
from evalsi_pack_core.numbers import last_number

PASS = [Output(kind="pass")]


@evaluator(name="exact-match", version=1, needs=("output", "reference"), outputs=PASS)
def exact_match(
    record: Record,
    *,
    normalize: Annotated[bool, Param(description="level compatibility forms, case and white space first")] = True,
    ignore_punctuation: Annotated[bool, Param(description="leave punctuation out (Unicode's categories P)")] = False,
) -> bool:
    """Output equals the reference, or any of a list of references."""
    output = record.output.as_text()
    expected = [reference.as_text() for reference in record.references]
    if output in expected:
        return True
    if ignore_punctuation:
        output, expected = without_punctuation(output), [without_punctuation(text) for text in expected]
    if normalize:
        output, expected = normal_form(output), [normal_form(text) for text in expected]
    return output in expected


@evaluator(name="contains", version=1, needs=("output",), outputs=PASS)
def contains(
    record: Record,
    *,
    substring: Annotated[str | None, Param(description="what to look for; the reference by default")] = None,
    ignore_case: bool = True,
) -> bool:
    """Output contains the given text, or any reference when none is given."""
    needles = [substring] if substring is not None else [reference.as_text() for reference in record.references]
    if not any(needle.strip() for needle in needles):
        raise ValueError("there is nothing to look for: an empty text is part of every output")
    output = record.output.as_text()
    if ignore_case:
        output, needles = output.casefold(), [needle.casefold() for needle in needles]
    return any(needle in output for needle in needles if needle.strip())


@evaluator(name="regex-match", version=1, needs=("output",), outputs=PASS)
class RegexMatch:
    """Output matches a regular expression (RE2: linear time, no look-around, no back-references)."""

    def __init__(
        self,
        *,
        pattern: Annotated[str, Param(description="RE2 syntax")],
        full_match: Annotated[bool, Param(description="the whole output must match, not a part of it")] = False,
        ignore_case: bool = False,
    ) -> None:
        import re2  # Loaded by those who match with it.

        options = re2.Options()
        options.case_sensitive = not ignore_case
        options.log_errors = False
        try:
            compiled: Any = re2.compile(pattern, options)
        except re2.error as error:
            raise ParamError("pattern", f"{pattern!r} is no RE2 pattern: {_text_of(error)}") from error
        self._matches = compiled.fullmatch if full_match else compiled.search

    def score(self, record: Record) -> bool:
        """Whether it matches."""
        return self._matches(record.output.as_text()) is not None


@evaluator(
    name="fuzzy-match",
    version=1,
    needs=("output", "reference"),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
class FuzzyMatch:
    """Similarity of output and reference from 0 to 1 (normalised indel similarity), best reference."""

    def __init__(self, *, ignore_case: bool = True) -> None:
        from rapidfuzz import fuzz  # Loaded by those who match with it.

        self._ratio = fuzz.ratio
        self._ignore_case = ignore_case

    def score(self, record: Record) -> float:
        """1 - (insertions + deletions) / (length of both), as rapidfuzz's `fuzz.ratio` / 100."""
        output, expected = record.output.as_text(), [reference.as_text() for reference in record.references]
        if self._ignore_case:
            output, expected = output.casefold(), [text.casefold() for text in expected]
        if not any(expected):
            raise ValueError("every reference is empty; mend the references of this record")
        return max(self._ratio(output, text) for text in expected if text) / 100


@evaluator(name="numeric-match", version=1, needs=("output", "reference"), outputs=PASS)
def numeric_match(
    record: Record,
    *,
    rel_tol: Annotated[float, Param(description="tolerance relative to the larger number", minimum=0)] = 1e-6,
    abs_tol: Annotated[float, Param(description="tolerance near zero", minimum=0)] = 1e-9,
) -> bool | Score:
    """The last number of the output is the last number of the reference, within tolerance."""
    expected = [number for reference in record.references if (number := last_number(reference.as_text())) is not None]
    if not expected:
        raise Skip("reference has no number")
    found = last_number(record.output.as_text())
    if found is None:
        return Score(passed=False, explanation="The output has no number.")
    return any(math.isclose(found, number, rel_tol=rel_tol, abs_tol=abs_tol) for number in expected)


def _text_of(error: Exception) -> str:
    text = error.args[0] if error.args else ""
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
