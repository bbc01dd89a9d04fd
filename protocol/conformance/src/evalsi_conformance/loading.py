"""The level *loads*: the pack starts, agrees with its manifest, opens its evaluators, and exits.

All checks use one process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from evalsi_conformance.bench import Bench
from evalsi_conformance.findings import Fault
from evalsi_conformance.manifest import MANIFEST
from evalsi_conformance.pack_process import LEAVE_S
from evalsi_conformance.session import Session
from evalsi_protocol.errors import WireError

_DEFAULTS: Final[dict[str, Any]] = {
    "summary": "",
    "scope": "record",
    "needs": [],
    "asks": [],
    "outputs": [],
    "params": {},
}


class Loading:
    """The checks on one process, in order."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._session: Session | None = None

    def hello(self) -> Iterator[Fault]:
        """The pack answers `hello` with the protocol's major and the name and version of its manifest."""
        manifest = self._bench.subject.manifest
        self._session = self._bench.connect()
        said = self._session.hello()
        if isinstance(said, WireError):
            yield Fault(f"hello was answered with {said.code}: {said.message}", said.hint)
            return
        pack = said.get("pack")
        pack = pack if isinstance(pack, Mapping) else {}
        for key, declared in (("name", manifest.name), ("version", manifest.version)):
            if pack.get(key) != declared:
                what = f'hello gives the {key} {pack.get(key)!r}, and {MANIFEST} gives "{declared}".'
                yield Fault(what, "Make them one.")
        capabilities = said.get("capabilities")
        if not isinstance(capabilities, list) or "score" not in capabilities:
            yield Fault(f"hello names the capabilities {capabilities!r:.80}.", 'Name at least "score".')

    def describe(self) -> Iterator[Fault]:
        """The pack describes its evaluators as its manifest does."""
        answer = self._talking().ask("describe", {})
        if isinstance(answer, WireError):
            yield Fault(f"describe was answered with {answer.code}: {answer.message}", answer.hint)
            return
        tables = answer.get("evaluators")
        tables = [one for one in tables if isinstance(one, Mapping)] if isinstance(tables, list) else []
        said = {str(one.get("name")): one for one in tables}
        declared = {str(one["name"]): one for one in self._bench.subject.evaluators}
        for name in declared.keys() - said.keys():
            yield Fault(f"{MANIFEST} has it, and its process does not.", f"Write {MANIFEST} anew.", name)
        for name in said.keys() - declared.keys():
            yield Fault(f"Its process has it, and {MANIFEST} does not.", f"Write {MANIFEST} anew.", name)
        for name in declared.keys() & said.keys():
            for key, default in {"version": "", **_DEFAULTS}.items():
                here, there = declared[name].get(key, default), said[name].get(key, default)
                if here != there:
                    what = f"{key} is {_short(here)} in {MANIFEST} and {_short(there)} in its process."
                    yield Fault(what, f"Write {MANIFEST} anew.", name)

    def open(self) -> Iterator[Fault]:
        """Each evaluator opens with its defaults, and with the author's values for required params."""
        session = self._talking()
        for number, evaluator in enumerate(self._bench.subject.evaluators, 1):
            opening = self._bench.opening(number, evaluator)
            answer = session.ask("open", opening)
            if isinstance(answer, WireError):
                hint = f"Give params that fit in conformance.toml, under [params.{evaluator['name']}]."
                what = f"open with {_short(opening['params'])} was answered with {answer.code}: {answer.message}"
                yield Fault(
                    what, hint if evaluator.get("params", {}).get("required") else answer.hint, evaluator["name"]
                )

    def bye(self) -> Iterator[Fault]:
        """The pack answers `bye`, and its process exits."""
        session = self._talking()
        session.bye()
        code = session.process.exit_code(LEAVE_S)
        if code is None:
            yield Fault(f"Its process still runs {LEAVE_S:g} s after bye.", "End the process after the answer to bye.")
        elif code != 0:
            yield Fault(f"Its process ended with code {code} after bye.", "End with 0.")

    def leave(self) -> None:
        """End the process."""
        if self._session is not None:
            self._session.process.kill()

    def _talking(self) -> Session:
        assert self._session is not None
        return self._session


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:119]}…"
