"""Does the output say what the reference says: exactly, as a part, by a pattern, or nearly.

Every evaluator here takes the best of several references. An empty reference would be found in anything: it is a fault
of the data, and an error where no other is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from evalsi import Output, Param, ParamError, Record, evaluator
from evalsi_pack_core.normal_form import composed, folded, spaced, spaced_cased, unpunctuated, unpunctuated_words, words

# Two texts of 100,000 characters: a second of work, of Chinese seven. It cannot be interrupted, and beyond the time
# limit of a record it would take down the pack with all of its evaluators.
MOST_CELLS = 10_000_000_000

PASS = [Output(kind="pass")]

_FORMS: dict[tuple[bool, bool], Callable[[str], Any]] = {
    # normalize, ignore_punctuation → the form in which texts are compared
    (True, False): words,
    (True, True): unpunctuated_words,
    (False, True): unpunctuated,
    (False, False): str,
}


@evaluator(name="exact-match", version=2, needs=("output", "reference"), outputs=PASS)
class ExactMatch:
    """Output equals the reference, or any of a list of references."""

    def __init__(
        self,
        *,
        normalize: Annotated[bool, Param(description="level compatibility forms, case and white space first")] = True,
        ignore_punctuation: Annotated[
            bool, Param(description="leave punctuation out (Unicode's categories P)")
        ] = False,
    ) -> None:
        self._form: Callable[[str], Any] = _FORMS[normalize, ignore_punctuation]

    def score(self, record: Record) -> bool:
        """Whether it does, in the form that the params ask for."""
        output, expected = record.output_text, record.reference_texts
        return output in expected or self._form(output) in map(self._form, expected)


@evaluator(name="contains", version=2, needs=("output",), outputs=PASS)
class Contains:
    """Output contains the given text, or any reference when none is given."""

    def __init__(
        self,
        *,
        substring: Annotated[
            str | None, Param(description="what to look for; the reference by default", min_length=1)
        ] = None,
        ignore_case: bool = True,
    ) -> None:
        if substring is not None and not substring.strip():
            raise ParamError(
                "substring", "it is empty or blank, and nearly every output has that; use regex-match for white space"
            )
        # Its words in the normal form of exact-match, so that what equals a text also contains it.
        self._form = spaced if ignore_case else spaced_cased
        self._substring = None if substring is None else _with_edges(substring, self._form(substring))

    def score(self, record: Record) -> bool:
        """Whether it does."""
        if self._substring is not None:
            text = record.output_text
            return self._substring in _with_edges(text, self._form(text))
        output = self._form(record.output_text)
        return any(self._form(text) in output for text in _filled_references(record))


@evaluator(name="regex-match", version=2, needs=("output",), outputs=PASS)
class RegexMatch:
    """Output matches a regular expression (RE2: linear time, no look-around, no back-references)."""

    def __init__(
        self,
        *,
        pattern: Annotated[str, Param(description="RE2 syntax", min_length=1)],
        full_match: Annotated[bool, Param(description="the whole output must match, not a part of it")] = False,
        ignore_case: bool = False,
    ) -> None:
        import re2  # Loaded by those who match with it.

        if not pattern:
            raise ParamError("pattern", "it is empty, and an empty pattern matches every output")
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
        # Of text re2's binding would work out where in it each match stands; of bytes it need not.
        return self._matches(record.output_text.encode()) is not None


@evaluator(
    name="fuzzy-match",
    version=2,
    needs=("output", "reference"),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
class FuzzyMatch:
    """Similarity of output and reference from 0 to 1 (normalised indel similarity), best reference."""

    def __init__(self, *, ignore_case: bool = True) -> None:
        from rapidfuzz.distance import Indel  # Loaded by those who match with it.

        self._similarity: Callable[[str, str], float] = Indel.normalized_similarity
        self._form = folded if ignore_case else composed

    def score(self, record: Record) -> float:
        """1 - (insertions + deletions) / (length of both); 0 for an output without any text.

        Raises:
            ValueError: no reference has text, or the texts are too long to be compared in time.
        """
        output = self._form(record.output_text)
        references = [self._form(text) for text in _filled_references(record)]
        if output in references:
            return 1.0
        cells = len(output) * sum(map(len, references))
        if cells > MOST_CELLS:
            raise ValueError(
                f"output and references are too long to compare: {len(output):,} by {sum(map(len, references)):,} "
                f"characters; at most {MOST_CELLS:,} pairs of characters are compared"
            )
        similarities = [self._similarity(output, text) for text in references]
        return 0.0 if output.isspace() else max(similarities)


def _with_edges(written: str, form: str) -> str:
    """Return the form of a text with the space that it begins or ends with, which counts in a substring: "km "."""
    if not form:
        return form
    return f"{' ' if written[0].isspace() else ''}{form}{' ' if written[-1].isspace() else ''}"


def _filled_references(record: Record) -> list[str]:
    """The references that say something; raises `ValueError` where none does."""
    filled = [text for text in record.reference_texts if text and not text.isspace()]
    if not filled:
        raise ValueError("every reference of this record is empty; correct the data")
    return filled


def _text_of(error: Exception) -> str:
    text = error.args[0] if error.args else ""
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
