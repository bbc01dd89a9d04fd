"""Owns the second reading of a results file: the texts of the rows that a report shows, cut to what it can hold.

It must not know how they are shown. Memory is bounded: where texts add up to too much, all are cut shorter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from .folding import Folded, trial_of, whole_trial
from .results import Results
from .shown_text import content_text, cut, json_text
from .values import objects, one_object

LONGEST = 4_000
MOST_CHARS = 32_000_000
_ENTRY = Mapping[str, Any]


class Text(NamedTuple):
    """The beginning of a text, and how many characters of it are missing."""

    text: str
    missing: int = 0

    def cut(self, limit: int) -> Text:
        """The same, not longer than `limit`."""
        beyond = len(self.text) - limit
        return self if beyond <= 40 else Text(self.text[:limit], self.missing + beyond)


class Said(NamedTuple):
    """What an evaluator said of a row.

    Args:
        evaluator: its name.
        outcome: scored, skipped, error or cancelled.
        explanations: metric → why it gave this score.
        reason: why there is no score; None for a score.
        code, hint: of an error.
        refs: of the model's replies that it rests on.
    """

    evaluator: str
    outcome: str
    explanations: Mapping[str, Text]
    reason: Text | None
    code: str
    hint: str
    refs: tuple[str, ...]


class Reply(NamedTuple):
    """What a model answered, as it came."""

    model: str
    text: Text
    problem: str


class Detail:
    """A row's texts.

    Attributes:
        fields: input, output, reference, context, trajectory and metadata, those that there are.
        said: by the evaluators, in their order.
        failed: why the target gave no output; "" where it did, or where nothing is said of it.
    """

    def __init__(self) -> None:
        self.fields: dict[str, list[Text]] = {}
        self.said: list[Said] = []
        self.failed = ""


class Details(NamedTuple):
    """The texts of rows by their place, and the replies of models by their reference."""

    rows: Mapping[int, Detail]
    replies: Mapping[str, Reply]


def read_details(results: Results, folded: Folded, rows: Collection[int]) -> Details:
    """Read the texts of some rows; raises `ConfigError` as `fold` does."""
    reading = _Reading(folded, rows)
    take = {"results": reading.result, "records": reading.record, "judge_replies": reading.reply}
    for name, entry in results.entries():
        take[name](entry)
    return Details(reading.rows, reading.replies)


class _Reading:
    def __init__(self, folded: Folded, rows: Collection[int]) -> None:
        self.rows = {row: Detail() for row in sorted(rows)}
        self.replies: dict[str, Reply] = {}
        self._folded = folded
        self._wanted: set[str] = set()
        self._limit = LONGEST
        self._chars = 0

    def result(self, result: _ENTRY) -> None:
        detail = self._detail(str(result.get("record_id") or ""), whole_trial(result.get("trial")))
        if detail is None:
            return
        error = result.get("error")
        told: _ENTRY = error if isinstance(error, dict) else {}
        calls = result.get("judge_calls")
        refs = tuple(str(ref) for ref in calls) if isinstance(calls, list) else ()
        self._wanted.update(refs)
        outcome = str(result.get("outcome"))
        explanations = {}
        for score in objects(result.get("scores")):
            if score.get("explanation"):
                explanations[str(score.get("name"))] = self._text(str(score["explanation"]))
        for failed in objects(result.get("score_errors")):
            explanations[str(failed.get("name"))] = self._text(f"Error: {failed.get('message')}")
        reason = None if outcome == "scored" else self._text(str(told.get("message") or result.get("reason") or ""))
        code, hint = str(told.get("code") or ""), cut(str(told.get("hint") or ""), 300)[0]
        detail.said.append(Said(str(result.get("evaluator")), outcome, explanations, reason, code, hint, refs))

    def record(self, record: _ENTRY) -> None:
        detail = self._detail(str(record.get("id")), trial_of(record))
        if detail is None:
            return
        for name, texts in _fields(record):
            detail.fields[name] = [self._text(text) for text in texts]
        failed = one_object(one_object(record.get("provenance")).get("run")).get("error")
        if failed:
            message = failed.get("message") if isinstance(failed, dict) else failed
            detail.failed = cut(str(message), 600)[0]

    def reply(self, reply: _ENTRY) -> None:
        ref = str(reply.get("ref"))
        # Where replies come before results, as in a file that was put together anew, which are wanted is not known.
        if ref in self._wanted or not self._wanted:
            text = self._text(str(reply.get("text") or ""))
            self.replies[ref] = Reply(str(reply.get("model")), text, cut(str(reply.get("problem") or ""), 300)[0])

    def _detail(self, record_id: str, trial: int) -> Detail | None:
        place = self._folded.rows.find(record_id, trial)
        return None if place is None else self.rows.get(place)

    def _text(self, text: str) -> Text:
        shown = Text(*cut(text, self._limit))
        self._chars += len(shown.text)
        if self._chars > MOST_CHARS:
            self._shorten()
            shown = shown.cut(self._limit)
        return shown

    def _shorten(self) -> None:
        """Halve the longest that a text may be, for those that were read too."""
        self._limit //= 2
        self._chars = 0
        for detail in self.rows.values():
            for name, texts in detail.fields.items():
                detail.fields[name] = [self._again(text) for text in texts]
            detail.said = [
                said._replace(
                    explanations={metric: self._again(text) for metric, text in said.explanations.items()},
                    reason=said.reason and self._again(said.reason),
                )
                for said in detail.said
            ]
        for ref, reply in self.replies.items():
            self.replies[ref] = reply._replace(text=self._again(reply.text))

    def _again(self, text: Text) -> Text:
        shorter = text.cut(self._limit)
        self._chars += len(shorter.text)
        return shorter


def _fields(record: _ENTRY) -> Iterator[tuple[str, list[str]]]:
    for name in ("input", "output"):
        if name in record:
            yield name, [content_text(record[name])]
    for name in ("reference", "context"):
        if name in record:
            value = record[name]
            yield name, [content_text(one) for one in (value if isinstance(value, list) else [value])][:50]
    for name in ("trajectory", "metadata"):
        if record.get(name):
            yield name, [json_text(record[name])]
