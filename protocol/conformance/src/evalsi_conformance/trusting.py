"""The level *trustworthy*: equal records give equal scores, in the declared range, and failures are not numbers.

The checks use a second process, sandboxed if the host supports it, and compare it with the first.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evalsi_conformance.behaving import changed, has_evaluators_that_ask
from evalsi_conformance.bench import Bench
from evalsi_conformance.findings import Fault, NotChecked
from evalsi_conformance.isolation import sessions
from evalsi_conformance.outcomes import Outcome, score
from evalsi_conformance.scripted_judge import FAILURES
from evalsi_conformance.session import Session
from evalsi_conformance.walls import can_wall

COMPILED = "__pycache__"
READ_ONLY = os.strerror(errno.EROFS)
_SCRATCH = "Write into the folder that TMPDIR names."


class Trusting:
    """The second process, and the state before its start."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._session: Session | None = None
        # A pack that asks for the network would only fail without it.
        self._walled = not bench.subject.manifest.hosts and can_wall()
        self._before = _files(bench.subject.folder)
        self._written: list[str] = []
        self._refused: list[str] = []
        self._attempts = 0

    def deterministic(self) -> Iterator[Fault]:
        """A second process gives the same scores as the first."""
        known = self._bench.score_samples(self._bench.shared())
        session = self._second()
        found = score(session, self._bench.sessions, self._bench.subject.samples)
        yield from (Fault(fault) for fault in found.faults)
        self._refused += _refusals(found.outcomes.values())
        yield from changed(self._bench, known, found, "in a second process")
        for number, whole in self._bench.aggregates(session, found).items():
            was = self._bench.wholes[number]
            if whole.verdict() != was.verdict():
                what = f"aggregate was {was.shown()}, and is {whole.shown()} in a second process (AGG-2)."
                yield Fault(what, "Let nothing but the states decide.", self._bench.name_of(number))

    def order(self) -> Iterator[Fault]:
        """The samples get the same scores in another order and other batches."""
        known = self._bench.score_samples(self._bench.shared())
        turned = list(reversed(self._bench.subject.samples))
        for per_request in (1, len(turned)):
            found = score(self._second(), tuple(reversed(self._bench.sessions)), turned, per_request)
            yield from changed(self._bench, known, found, "in another order")

    def sessions(self) -> Iterator[Fault]:
        """Concurrent sessions with other params do not affect a session."""
        yield from sessions(self._bench, behind_walls=self._walled)

    def range(self) -> Iterator[Fault]:
        """Scores have the kind, name and range that the manifest declares."""
        known = self._bench.score_samples(self._bench.shared())
        for number, evaluator in enumerate(self._bench.subject.evaluators, 1):
            declared = {one.get("name") or evaluator["name"]: one for one in evaluator.get("outputs", [])}
            whole = self._bench.wholes.get(number)
            outcomes = {**known.of(number), **({"the whole data": whole} if whole else {})}
            for record_id, outcome in outcomes.items():
                for what in _undeclared(outcome, declared, evaluator["name"]) if declared else ():
                    yield Fault(f"{record_id}: {what}", "Correct the score, or declare it.", evaluator["name"])

    def failing_judge(self) -> Iterator[Fault]:
        """If the judge fails or gives an invalid answer, the record becomes an error, never a number."""
        has_evaluators_that_ask(self._bench)
        session = self._second()
        for manner in FAILURES:
            session.judge.manner = manner
            session.judge.asked.clear()
            try:
                found = score(session, self._bench.sessions, self._bench.subject.samples)
            finally:
                session.judge.manner = "answers"
            for (number, record_id), outcome in found.outcomes.items():
                asked = (number, record_id) in session.judge.asked
                if asked and outcome.kind not in ("error", "skipped", "cancelled"):
                    what = f"the record {record_id} is {outcome.shown()} where the judge's reply is {manner}."
                    yield Fault(what, "Let a failed question be an error.", self._bench.name_of(number))

    def writes(self) -> Iterator[Fault]:
        """The pack writes no files outside its scratch folder."""
        self._finish()
        yield from (Fault(f"it wrote ~/{path}.", _SCRATCH) for path in self._written)
        yield from (Fault(f"it tried to write elsewhere: {what}", _SCRATCH) for what in dict.fromkeys(self._refused))
        after = _files(self._bench.subject.folder)
        for path in sorted(
            {one for one in after.keys() | self._before.keys() if after.get(one) != self._before.get(one)}
        ):
            yield Fault(f"it changed {path} in the pack's folder.", _SCRATCH)

    def network(self) -> Iterator[Fault]:
        """The pack never uses the network, unless its manifest declares it."""
        hosts = self._bench.subject.manifest.hosts
        if hosts:
            raise NotChecked(f"its manifest asks for the network: {', '.join(hosts)}")
        if not self._walled:
            raise NotChecked("not checked on this host, which allows no network namespaces")
        self._finish()
        if self._attempts:
            times = "once" if self._attempts == 1 else f"{self._attempts} times"
            yield Fault(f"it tried {times} to reach something by the network.", "Ask the kernel for what you need.")

    def leave(self) -> None:
        """End the process."""
        if self._session is not None:
            self._session.process.kill()
            self._session = None

    def _second(self) -> Session:
        if self._session is None or self._session.is_over:
            self._finish()
            self._session = self._bench.opened(behind_walls=self._walled, takes_runs=True)
        return self._session

    def _finish(self) -> None:
        """Inspect what the process did, after its end."""
        if self._session is None:
            return
        process = self._session.process
        process.close_input()
        process.exit_code(1.0)
        self._written += process.written_at_home()
        self._attempts += process.network_attempts()
        told = [line.strip() for line in process.log_tail().splitlines() if READ_ONLY in line]
        self._refused += [line for line in told if not any(line in one for one in self._refused)]
        self.leave()


def _refusals(outcomes: Iterable[Outcome]) -> list[str]:
    """Return errors about a file whose write only the sandbox prevented."""
    errors = [outcome.payload for outcome in outcomes if outcome.kind == "error"]
    messages = [str(error.get("message", "")) for error in errors if isinstance(error, Mapping)]
    return [message for message in messages if READ_ONLY in message]


def _undeclared(outcome: Outcome, declared: Mapping[str, Mapping[str, Any]], evaluator: str) -> Iterator[str]:
    if outcome.kind != "scored" or not isinstance(outcome.payload, list):
        return
    for one in (each for each in outcome.payload if isinstance(each, Mapping)):
        name = str(one.get("name") or evaluator)
        output = declared.get(name)
        if output is None:
            yield f'the score "{name}" is not among the declared outputs.'
            continue
        kind = "pass" if "passed" in one else "label" if "label" in one else "number"
        if kind != output.get("kind"):
            yield f'the score "{name}" is a {kind}, and declared as {output.get("kind")}.'
        elif kind == "number":
            low, high, value = output.get("minimum"), output.get("maximum"), one.get("value")
            if not isinstance(value, int | float):
                yield f'the score "{name}" is {value!r:.60}, which is no number.'
            elif (low is not None and value < low) or (high is not None and value > high):
                bounds = f"{'-∞' if low is None else low} to {'∞' if high is None else high}"
                yield f'the score "{name}" is {value}, outside of {bounds}.'


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the files of a folder with size and modification time, without compiled Python."""
    found = {}
    for where, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if one != COMPILED and not one.startswith(".")]
        for name in names:
            path = os.path.join(where, name)
            status = os.lstat(path)
            found[os.path.relpath(path, folder)] = (status.st_size, status.st_mtime_ns)
    return found
