"""Shared state of the checks: the pack under test, its process, and its outcomes for the samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from evalsi_conformance.author_file import AuthorFile
from evalsi_conformance.findings import NotChecked
from evalsi_conformance.manifest import Manifest
from evalsi_conformance.outcomes import Outcome, Scoring, aggregate, score
from evalsi_conformance.pack_process import PackProcess, Program
from evalsi_conformance.samples import Record
from evalsi_conformance.schema_values import value_for
from evalsi_conformance.scripted_judge import ScriptedJudge
from evalsi_conformance.session import START_S, Lost, Session
from evalsi_protocol.errors import WireError

TIMEOUT_S: Final = 30.0
MOST_LOST: Final = 3


class Settings(NamedTuple):
    """Timeouts of the kit.

    Args:
        timeout_s: timeout of one answer; 0 takes the longer of 30 s and the manifest's `record_timeout_s`.
        start_timeout_s: timeout from the start of a process to its answer to `hello`.
        log: file to which the stderr of every process of the pack is appended.
        builtin: whether the pack is one of Evals.si's own, which have plain names.
    """

    timeout_s: float = 0.0
    start_timeout_s: float = START_S
    builtin: bool = False
    log: Path | None = None


class Subject(NamedTuple):
    """A pack under test.

    Args:
        folder: folder of the pack.
        manifest: content of its plugin.toml.
        program: how to start its process.
        samples: records for the checks.
        author: content of its conformance.toml.
    """

    folder: Path
    manifest: Manifest
    program: Program
    samples: Sequence[Record]
    author: AuthorFile = AuthorFile()

    @property
    def evaluators(self) -> tuple[Mapping[str, Any], ...]:
        """The evaluators' tables. The table at index n is opened as session n + 1."""
        return self.manifest.evaluators

    def params_of(self, evaluator: Mapping[str, Any]) -> dict[str, Any]:
        """Return an evaluator's params: the author's, else its defaults and generated values for required ones."""
        given = self.author.params.get(evaluator["name"])
        if given is not None:
            return {name: _placed(value, str(self.folder)) for name, value in given.items()}
        schema = evaluator.get("params", {})
        wanted = schema.get("properties", {})
        return {name: value_for(wanted.get(name, {}), 0, schema) for name in schema.get("required", ())}

    def others_of(self, evaluator: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the author's additional sets of params for the check *sessions*."""
        sets = self.author.variants.get(evaluator["name"], ())
        return [{name: _placed(value, str(self.folder)) for name, value in one.items()} for one in sets]


class Bench:
    """State shared by the checks."""

    def __init__(self, subject: Subject, settings: Settings) -> None:
        self.subject = subject
        self.settings = settings
        self.timeout_s = settings.timeout_s or max(TIMEOUT_S, subject.manifest.record_timeout_s)
        self.scored: Scoring | None = None
        self.wholes: dict[int, Outcome] = {}
        self._shared: Session | None = None
        self._lost = 0

    @property
    def sessions(self) -> tuple[int, ...]:
        """The session ids of the evaluators."""
        return tuple(range(1, len(self.subject.evaluators) + 1))

    @property
    def datasets(self) -> tuple[int, ...]:
        """The session ids of the evaluators with scope `dataset`."""
        return tuple(n for n in self.sessions if self.subject.evaluators[n - 1].get("scope") == "dataset")

    def name_of(self, number: int) -> str:
        """Return the evaluator of a session id."""
        return str(self.subject.evaluators[number - 1]["name"])

    def connect(self, *, behind_walls: bool = False, takes_runs: bool = False) -> Session:
        """Return a session with a new process, before `hello`."""
        if self._lost >= MOST_LOST:
            raise NotChecked(f"it was not reached, because the pack's process was lost {self._lost} times")
        process = PackProcess(
            self.subject.program, behind_walls=behind_walls, writable=self.subject.folder, log=self.settings.log
        )
        return Session(
            process,
            ScriptedJudge(self.subject.author.answers),
            self.timeout_s,
            start_timeout_s=self.settings.start_timeout_s,
            takes_runs=takes_runs,
        )

    def opened(self, *, behind_walls: bool = False, takes_runs: bool = False) -> Session:
        """Return a session with a new process in which every evaluator is open.

        Raises:
            Lost: the pack rejects it, which an earlier check has reported.
        """
        session = self.greeted(behind_walls=behind_walls, takes_runs=takes_runs)
        try:
            for number, evaluator in enumerate(self.subject.evaluators, 1):
                refused = session.ask("open", self.opening(number, evaluator))
                if isinstance(refused, WireError):
                    raise Lost(f"It refuses what it took before: {refused.message}", refused.hint)
        except Lost:
            session.process.kill()
            raise
        return session

    def greeted(self, *, behind_walls: bool = False, takes_runs: bool = False) -> Session:
        """Return a session with a new process, after `hello` and before any evaluator is open."""
        session = self.connect(behind_walls=behind_walls, takes_runs=takes_runs)
        try:
            refused = session.hello()
            if isinstance(refused, WireError):
                raise Lost(f"It refuses what it took before: {refused.message}", refused.hint)
        except Lost:
            session.process.kill()
            raise
        return session

    def opening(self, number: int, evaluator: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of an `open` request."""
        return {"session": number, "evaluator": evaluator["name"], "params": self.subject.params_of(evaluator)}

    def shared(self) -> Session:
        """Return the shared session; a new one if the last was lost."""
        if self._shared is None or self._shared.is_over:
            self.leave()
            self._shared = self.opened()
        return self._shared

    def score_samples(self, session: Session) -> Scoring:
        """Return the pack's outcomes for the samples, cached after the first call."""
        if self.scored is None:
            self.scored = score(session, self.sessions, self.subject.samples)
            self.wholes = self.aggregates(session, self.scored)
        return self.scored

    def aggregates(self, session: Session, scoring: Scoring) -> dict[int, Outcome]:
        """Return the outcome for the whole data of each evaluator with scope `dataset`."""
        ids = [record["id"] for record in self.subject.samples]
        return {number: aggregate(session, number, scoring.states(number, ids)) for number in self.datasets}

    def count_lost(self) -> None:
        """Record that the shared process was lost."""
        self._lost += 1

    def leave(self) -> None:
        """End the shared process."""
        if self._shared is not None:
            self._shared.process.kill()
            self._shared = None


def _placed(value: Any, folder: str) -> Any:
    """Return a param with `{folder}` replaced by the pack's folder."""
    return value.replace("{folder}", folder) if isinstance(value, str) else value
