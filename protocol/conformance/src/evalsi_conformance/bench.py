"""What the checks work on: the pack under test, the process that they share, and what it answered to the samples.

It starts and ends processes; it must not know what a check looks for.
"""

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
    """How patient the kit is, and with whom.

    Args:
        timeout_s: how long one answer may take; 0 takes the longer of 30 s and the manifest's `record_timeout_s`.
        start_timeout_s: how long a process may take to answer `hello`.
        log: a file to which the stderr of every process of the pack is appended.
        builtin: the pack is one of Evals.si's own, whose names are plain.
    """

    timeout_s: float = 0.0
    start_timeout_s: float = START_S
    builtin: bool = False
    log: Path | None = None


class Subject(NamedTuple):
    """A pack under test.

    Args:
        folder: where it lies.
        manifest: what its plugin.toml says.
        program: how a process of it is started.
        samples: the records that it is tried with.
        author: what its conformance.toml says.
    """

    folder: Path
    manifest: Manifest
    program: Program
    samples: Sequence[Record]
    author: AuthorFile = AuthorFile()

    @property
    def evaluators(self) -> tuple[Mapping[str, Any], ...]:
        """Their tables; the one at place n is opened as session n + 1."""
        return self.manifest.evaluators

    def params_of(self, evaluator: Mapping[str, Any]) -> dict[str, Any]:
        """What to open it with: the author's params, else its defaults and made-up values of what is required."""
        given = self.author.params.get(evaluator["name"])
        if given is not None:
            return {name: _placed(value, str(self.folder)) for name, value in given.items()}
        schema = evaluator.get("params", {})
        wanted = schema.get("properties", {})
        return {name: value_for(wanted.get(name, {}), 0, schema) for name in schema.get("required", ())}

    def others_of(self, evaluator: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The other sets of params that the author gives for the check *sessions*."""
        sets = self.author.variants.get(evaluator["name"], ())
        return [{name: _placed(value, str(self.folder)) for name, value in one.items()} for one in sets]


class Bench:
    """The state that checks share."""

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
        """The numbers under which the evaluators are opened."""
        return tuple(range(1, len(self.subject.evaluators) + 1))

    @property
    def datasets(self) -> tuple[int, ...]:
        """The numbers of the evaluators of scope `dataset`."""
        return tuple(n for n in self.sessions if self.subject.evaluators[n - 1].get("scope") == "dataset")

    def name_of(self, number: int) -> str:
        """The evaluator of a session's number."""
        return str(self.subject.evaluators[number - 1]["name"])

    def connect(self, *, behind_walls: bool = False, takes_runs: bool = False) -> Session:
        """A session with a process of its own, that nothing was said in yet."""
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
        """A session with a process of its own, in which every evaluator is open.

        Raises:
            Lost: it refuses, which an earlier check has told in full.
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
        """A session with a new process that was greeted, in which no evaluator is open yet."""
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
        """The body of an `open`."""
        return {"session": number, "evaluator": evaluator["name"], "params": self.subject.params_of(evaluator)}

    def shared(self) -> Session:
        """The session that checks share; a fresh one when the last was lost."""
        if self._shared is None or self._shared.is_over:
            self.leave()
            self._shared = self.opened()
        return self._shared

    def score_samples(self, session: Session) -> Scoring:
        """What the pack says of the samples, remembered from the first time."""
        if self.scored is None:
            self.scored = score(session, self.sessions, self.subject.samples)
            self.wholes = self.aggregates(session, self.scored)
        return self.scored

    def aggregates(self, session: Session, scoring: Scoring) -> dict[int, Outcome]:
        """The outcome for the whole data of each evaluator of scope `dataset`."""
        ids = [record["id"] for record in self.subject.samples]
        return {number: aggregate(session, number, scoring.states(number, ids)) for number in self.datasets}

    def count_lost(self) -> None:
        """Take note that a check lost its process."""
        self._lost += 1

    def leave(self) -> None:
        """End the shared process."""
        if self._shared is not None:
            self._shared.process.kill()
            self._shared = None


def _placed(value: Any, folder: str) -> Any:
    """A param with the pack's folder in place of `{folder}`."""
    return value.replace("{folder}", folder) if isinstance(value, str) else value
