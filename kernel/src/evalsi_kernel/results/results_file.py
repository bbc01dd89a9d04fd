"""`results.json`: results and records spooled to disk as they come, the file put together at the end and renamed.

A reader never sees half a file, and memory does not grow with the run. It must not know how a score came about.
The form is described in docs/reference/results-schema.md.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgpack

from evalsi_kernel.files.atomic_file import as_output_error, atomic_file
from evalsi_kernel.files.line_spool import LineSpool
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.records.chunks import Chunk, Outcome

if TYPE_CHECKING:
    from evalsi_kernel.broker.reply_log import ReplyLog

SCHEMA_VERSION = 1
Calls = Mapping[int, Sequence[Sequence[str]]]
"""For a session that asks models, the references of each record's calls."""
NO_CALLS: Calls = {}
NOTHING_MORE: Mapping[str, Any] = {}
_UNTOLD: Outcome = ("state", None)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class ResultsSpool:
    """Takes in answered and tallied chunks; gives them back as results, or as a file.

    Args:
        folder: where the spool lies until the end; None means the system's place for temporary files.
        replies: what models answered, for the file; None where none was asked.

    Raises:
        OutputError: nothing can be written there.
    """

    def __init__(self, folder: Path | None = None, replies: ReplyLog | None = None) -> None:
        self._folder = folder or Path(tempfile.gettempdir())
        self._replies = replies
        self._writers: dict[int, _ResultWriter] = {}
        self._late: dict[str, dict[str, str]] = {}
        with as_output_error(self._folder):
            self._results = LineSpool(folder)
            self._records = LineSpool(folder)

    def add(self, chunk: Chunk, instances: Sequence[Instance], calls: Calls = NO_CALLS) -> None:
        """Append a chunk's records and results, with the calls of each; raises `OutputError` when the disk is full."""
        ids = chunk.record_ids or chunk.ids
        columns = [
            self._writer(one).lines(ids, chunk.columns[one.session], calls.get(one.session), chunk.trials)
            for one in instances
        ]
        for one, column in zip(instances, columns, strict=True):
            for index, ms in chunk.durations.get(one.session, {}).items():
                column[index] = column[index] and f'{column[index][:-1]},"duration_ms":{ms!r}}}'
        lines = [line for of_record in zip(*columns, strict=True) for line in of_record if line]
        records = [_encode(record) for record in msgpack.unpackb(chunk.packed_array)]
        with as_output_error(self._folder):
            self._results.append(lines)
            self._records.append(records)

    def add_whole(self, instance: Instance, outcome: Outcome) -> None:
        """Append the result of a dataset-scope evaluator, whose record id is empty; raises as `add` does."""
        with as_output_error(self._folder):
            self._results.append(self._writer(instance).lines([""], [outcome]))

    def qualify(self, scores: Mapping[int, Iterable[str]]) -> None:
        """Take note that scores of these sessions have other metrics from now on, and in what was added before."""
        for session, names in scores.items():
            writer = self._writers.get(session)
            if writer is not None:
                renamed = writer.qualify(names)
                self._late.setdefault(writer.evaluator, {}).update(renamed)

    def results(self) -> Iterator[dict[str, Any]]:
        """Every result, in the order of the records; raises `OutputError` when the disk is full."""
        return map(self._renamed, self._parsed(self._results))

    def _renamed(self, result: dict[str, Any]) -> dict[str, Any]:
        names = self._late.get(result["evaluator"])
        for score in [*result.get("scores", ()), *result.get("score_errors", ())] if names else ():
            score["name"] = (names or {}).get(score["name"], score["name"])
        return result

    def records(self) -> Iterator[dict[str, Any]]:
        """Every record, in order; raises `OutputError` when the disk is full."""
        return self._parsed(self._records)

    def judge_replies(self) -> Iterator[dict[str, Any]]:
        """Every raw reply of a model; raises `OutputError` when the disk is full."""
        return iter(()) if self._replies is None else self._parsed(self._replies.lines)

    def write(
        self,
        path: Path,
        manifest: Mapping[str, Any],
        summaries: Sequence[Mapping[str, Any]],
        more: Mapping[str, Any] = NOTHING_MORE,
    ) -> None:
        """Put the file together beside `path` and rename it there; a link is followed.

        Args:
            path: where it is to stand.
            manifest: what ran.
            summaries: one a metric.
            more: other keys of the file, which come after the summaries.

        Raises:
            OutputError: it cannot be written; whatever stood at `path` still does.
        """
        with atomic_file(path) as file:
            self._put_together(file, {"manifest": manifest, "summaries": list(summaries), **more})

    def close(self) -> None:
        """Forget everything."""
        self._results.close()
        self._records.close()
        if self._replies is not None:
            self._replies.lines.close()

    def _writer(self, instance: Instance) -> _ResultWriter:
        writer = self._writers.get(instance.session)
        if writer is None:
            writer = self._writers[instance.session] = _ResultWriter(instance)
        return writer

    def _parsed(self, spool: LineSpool) -> Iterator[dict[str, Any]]:
        with as_output_error(self._folder):
            for line in spool:
                yield json.loads(line)

    def _put_together(self, file: BinaryIO, heads: Mapping[str, Any]) -> None:
        file.write(b'{"schema_version":%d' % SCHEMA_VERSION)
        for name, value in heads.items():
            file.write(b',\n"%s":' % name.encode())
            file.write(_indented(value))
        spools: list[tuple[bytes, LineSpool]] = [(b"results", self._results), (b"records", self._records)]
        if self._replies is not None:
            spools.append((b"judge_replies", self._replies.lines))
        for key, spool in spools:
            file.write(b',\n"%s":[\n' % key)
            if self._late and spool is self._results:
                for place, result in enumerate(self.results()):
                    file.write(((",\n" if place else "") + _encode(result)).encode())
            else:
                spool.copy_to(file)
            file.write(b"\n]")
        file.write(b"}\n")


class _ResultWriter:
    """Writes one evaluator's results as JSON, most of which is the same for every record."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        names = _encode({"evaluator": instance.name, "evaluator_ref": f"{instance.info.ref}@{instance.info.version}"})
        self._shared = f",{names[1:-1]}"
        self._scored = f'{self._shared},"outcome":"scored","trial":1,"scores":['
        self._heads: dict[Any, str] = {}

    @property
    def evaluator(self) -> str:
        """The evaluator's name, as results have it."""
        return self._instance.name

    def qualify(self, names: Iterable[str]) -> dict[str, str]:
        """Name these scores anew; returns the metric of each as it was, and as it is."""
        self._heads = {name: head for name, head in self._heads.items() if name not in names}
        return {name: self._instance.metric(name) for name in names}

    def lines(
        self,
        ids: Sequence[str],
        column: Sequence[Outcome | None],
        calls: Sequence[Sequence[str]] | None = None,
        trials: Sequence[int] | None = None,
    ) -> list[str]:
        """A line for each outcome, with the references of its calls; an empty one where there is none to tell."""
        lines = self._outcomes(ids, column)
        if trials is not None:
            # No text before it can hold these quotes unescaped.
            told = zip(lines, trials, strict=True)
            lines = [line.replace('"trial":1,', f'"trial":{trial},', 1) for line, trial in told]
        if calls is None:
            return lines
        return [
            f'{line[:-1]},"judge_calls":{_encode(refs)}}}' if line and refs else line
            for line, refs in zip(lines, calls, strict=True)
        ]

    def _outcomes(self, ids: Sequence[str], column: Sequence[Outcome | None]) -> list[str]:
        scored = self._scored
        lines = []
        for record_id, outcome in zip(ids, column, strict=True):
            kind, payload = outcome or _UNTOLD
            if kind == "scored":
                scores = ",".join([self._score(score) for score in payload if "error" not in score])
                lines.append(f'{{"record_id":{_encode(record_id)}{scored}{scores}]{self._errors(payload)}}}')
            elif kind == "state":
                lines.append("")
            else:
                lines.append(f'{{"record_id":{_encode(record_id)}{self._unscored(kind, payload)}}}')
        return lines

    def _score(self, score: Mapping[str, Any]) -> str:
        name = score.get("name")
        head = self._heads.get(name)
        if head is None:
            head = self._heads[name] = f'{{"name":{_encode(self._instance.metric(name or ""))}'
        parts = [head]
        for key, value in score.items():
            if value is True:
                text = "true"
            elif type(value) is float:
                text = repr(value)
            elif value is None or key == "name":
                continue
            else:
                text = _encode(value)
            parts.append(f',"{key}":{text}' if key.isidentifier() else f",{_encode(key)}:{text}")
        return "".join(parts) + "}"

    def _errors(self, scores: Sequence[Mapping[str, Any]]) -> str:
        """The metrics of a scored outcome that are errors, with the key that holds them; "" where there is none."""
        errors = [
            {"name": self._instance.metric(score.get("name") or ""), **score["error"]}
            for score in scores
            if "error" in score
        ]
        return f',"score_errors":{_encode(errors)}' if errors else ""

    def _unscored(self, kind: str, payload: Mapping[str, Any]) -> str:
        reason = payload.get("message" if kind == "error" else "reason", "")
        rest: dict[str, Any] = {"outcome": kind, "trial": 1, "reason": reason}
        if kind == "error":
            rest["error"] = payload
        return f"{self._shared},{_encode(rest)[1:-1]}"


def _indented(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1).encode()
