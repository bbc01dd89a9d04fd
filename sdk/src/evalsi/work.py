"""Handle the requests of a session: hello, describe, open, score, aggregate, plan, reduce, close, bye."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from evalsi import fault_log
from evalsi.aggregation import Aggregation
from evalsi.context import Context
from evalsi.definition import Definition
from evalsi.item_buffer import ItemBuffer
from evalsi.loading import LoadError
from evalsi.opened import Opened, open_evaluator
from evalsi.params import ParamError
from evalsi.reply_check import misfit
from evalsi.scoring import Running, Sessions, score_records
from evalsi_protocol.errors import WireError
from evalsi_protocol.greeting import choose_major, pack_hello
from evalsi_protocol.machine import RequestReceived

if TYPE_CHECKING:
    from concurrent.futures import Future
    from types import ModuleType

    from evalsi.async_scoring import AsyncScorer

_T = TypeVar("_T")


class Answering(Protocol):
    """The interface of `Host` that `Work` uses."""

    window: int

    def is_cancelled(self, request_id: int) -> bool: ...

    def open_buffer(self, request_id: int, takes: Collection[str]) -> ItemBuffer: ...

    def respond(self, request_id: int, body: dict[str, Any]) -> None: ...

    def fail(self, request_id: int, error: WireError) -> None: ...

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]: ...


class Refusal(Exception):
    """A request is rejected with this error."""

    def __init__(self, code: str, message: str, hint: str = "", source: Any = "config") -> None:
        super().__init__(message)
        self.error = WireError(code, message, hint, source)


class Work:
    """The pack's side of a session: its evaluators and the sessions opened on them."""

    def __init__(
        self, host: Answering, name: str, version: str, load: Callable[[], dict[str, Definition]], running: Running
    ) -> None:
        self._host = host
        self._name = name
        self._version = version
        self._load = load
        self._fault: Exception | None = None
        self._running = running
        self._definitions: dict[str, Definition] = {}
        self._opened: dict[int, Opened] = {}
        self._aggregations: dict[int, Aggregation] = {}
        self._async: AsyncScorer | None = None
        self._abandoned = False
        self._concurrency = 16
        self._kernel_takes: Collection[str] = ()

    def do(self, request: RequestReceived) -> None:
        """Handle one request and answer it: at once, or later for async scoring. Exceptions become error answers."""
        step = getattr(self, f"_{request.method}", None)
        try:
            if step is None:
                raise Refusal(
                    "pack.not_supported",
                    f"This pack does not support {request.method!r}.",
                    "Use an evaluator that supports it.",
                    "pack",
                )
            body = step(request)
        except Refusal as refusal:
            self._host.fail(request.id, refusal.error)
        except LoadError as error:
            traceback = "" if error.__cause__ is None else fault_log.log(error.__cause__)
            self._host.fail(request.id, WireError("pack.import", str(error), "", "pack", traceback=traceback))
        except Exception as error:  # noqa: BLE001 -- any exception of a pack becomes the answer.
            traceback, where = fault_log.log(error), fault_log.where_of(error)
            code = "pack.import" if request.method == "hello" else "pack.failed"
            message = f"{self._name} failed at {request.method!r}: {type(error).__name__}: {error}"
            hint = f"It was raised in {where}." if where else ""
            self._host.fail(request.id, WireError(code, message, hint, "pack", traceback=traceback))
        else:
            if body is not None:
                self._host.respond(request.id, body)

    def load(self) -> None:
        """Import the pack. An exception becomes the answer to `hello`."""
        try:
            self._definitions = self._load()
        except Exception as error:  # noqa: BLE001 -- any exception of a pack becomes the answer.
            self._fault = error

    def cancel(self, request_id: int) -> None:
        """Stop an asynchronous request. Synchronous requests check for cancellation themselves."""
        if self._async is not None:
            self._async.cancel(request_id)

    def abandon(self) -> None:
        """Stop at the next record, because the kernel closed the connection."""
        self._abandoned = True

    def close(self) -> None:
        """Stop background work; its requests are answered as cancelled. Further calls do nothing."""
        if self._async is not None:
            self._async.close()
            self._async = None

    # -- requests -------------------------------------------------------------------------------------------------

    def _hello(self, request: RequestReceived) -> dict[str, Any]:
        major = choose_major(request.body)
        if isinstance(major, WireError):
            raise Refusal(major.code, major.message, major.hint, major.source)
        capabilities = request.body.get("capabilities")
        self._kernel_takes = capabilities if isinstance(capabilities, list) else ()
        if self._fault is not None:
            raise self._fault
        return pack_hello(
            major, self._name, self._version, {"score", "aggregate", "plan", "reduce"}, window=self._host.window
        )

    def _describe(self, request: RequestReceived) -> dict[str, Any]:
        return {
            "pack": {"name": self._name, "version": self._version},
            "evaluators": [definition.to_dict() for definition in self._definitions.values()],
        }

    def _open(self, request: RequestReceived) -> dict[str, Any]:
        body = request.body
        session, name = _field(body, "session", int), _field(body, "evaluator", str)
        if session in self._opened:
            raise Refusal("protocol.session", f"The session {session} is already open.", "Use another id.", "kernel")
        definition = self._definitions.get(name)
        if definition is None:
            known = ", ".join(self._definitions)
            raise Refusal("config.unknown_evaluator", f"This pack has no evaluator {name!r}.", f"Choose from {known}.")
        self._concurrency = max(1, _field(body, "concurrency", int, self._concurrency))
        params = _field(body, "params", dict, {})
        _check_values(definition, params)
        try:
            self._opened[session] = open_evaluator(definition, params, Context(self._host, session))
        except ParamError as error:
            raise Refusal("config.param", f"{name}.{error.param}: {error.message}", "Change the param.") from error
        except TypeError as error:
            raise Refusal("config.param", f"{name} rejects these params: {error}.", "See the catalog.") from error
        return {"evaluator": definition.to_dict()}

    def _score(self, request: RequestReceived) -> dict[str, Any] | None:
        sessions = self._sessions(_field(request.body, "sessions", list))
        records = _field(request.body, "records", list)
        buffer = self._host.open_buffer(request.id, self._kernel_takes)
        if any(opened.is_async for _, opened in sessions):
            self._score_async(request.id, records, sessions, buffer)
            return None
        finished = score_records(
            request.id, records, sessions, buffer, running=self._running, is_cancelled=self._is_cancelled
        )
        return self._digest(request.id, buffer, finished=finished)

    def _aggregate(self, request: RequestReceived) -> dict[str, Any]:
        body = request.body
        session = _field(body, "session", int)
        ((_, opened),) = self._sessions([session])
        if opened.definition.scope != "dataset":
            name = opened.definition.name
            raise Refusal("protocol.session", f"{name} has record scope.", "Use score, not aggregate.", "kernel")
        states = _field(body, "states", list)
        aggregation = self._aggregations.setdefault(session, Aggregation(opened))
        aggregation.add(states)
        if body.get("more"):
            return {"states": aggregation.count}
        del self._aggregations[session]
        return aggregation.finish(_field(body, "resamples", int, 0), _field(body, "seed", int, 0))

    def _plan(self, request: RequestReceived) -> dict[str, Any]:
        opened, planning = self._planned(request)
        return {"plans": planning.plan_records(opened, _field(request.body, "records", list))}

    def _reduce(self, request: RequestReceived) -> dict[str, Any]:
        opened, planning = self._planned(request)
        records, replies = _field(request.body, "records", list), _field(request.body, "replies", list)
        if len(records) != len(replies):
            message = f"There are {len(records)} records but {len(replies)} lists of replies."
            raise Refusal("protocol.body", message, "Follow the protocol's specification.", "kernel")
        return {"outcomes": planning.reduce_records(opened, records, replies)}

    def _close(self, request: RequestReceived) -> dict[str, Any]:
        session = _field(request.body, "session", int)
        self._opened.pop(session, None)
        self._aggregations.pop(session, None)
        return {}

    def _bye(self, request: RequestReceived) -> dict[str, Any]:
        # All requests are answered before `bye`.
        self.close()
        return {}

    # -- inside ---------------------------------------------------------------------------------------------------

    def _planned(self, request: RequestReceived) -> tuple[Opened, ModuleType]:
        ((_, opened),) = self._sessions([_field(request.body, "session", int)])
        if not hasattr(opened.instance, "plan"):
            message = f"{opened.definition.name} has no plan and reduce: it calls models while it scores."
            raise Refusal("pack.not_supported", message, "Use score.", "pack")
        from evalsi import planning  # Imported late: few packs need it.

        return opened, planning

    def _sessions(self, ids: list[Any]) -> Sessions:
        missing = [session for session in ids if type(session) is not int or session not in self._opened]
        if missing:
            raise Refusal("protocol.session", f"The session {missing[0]} is not open.", "Open it first.", "kernel")
        return [(session, self._opened[session]) for session in ids]

    def _score_async(
        self, request_id: int, records: list[dict[str, Any]], sessions: Sessions, buffer: ItemBuffer
    ) -> None:
        if self._async is None:
            from evalsi.async_scoring import AsyncScorer  # Imported late: asyncio takes 50 ms.

            self._async = AsyncScorer(self._concurrency, self._running, self._is_cancelled)

        def done(finished: bool, error: BaseException | None) -> None:
            if error is not None:
                self._host.fail(request_id, WireError("pack.failed", f"{type(error).__name__}: {error}"))
                return
            digest = self._digest(request_id, buffer, finished=finished)
            if digest is not None:
                self._host.respond(request_id, digest)

        self._async.submit(request_id, records, sessions, buffer, done)

    def _digest(self, request_id: int, buffer: ItemBuffer, *, finished: bool) -> dict[str, Any] | None:
        if not finished:
            self._host.fail(request_id, WireError("protocol.cancelled", "The request was cancelled.", "", "kernel"))
            return None
        buffer.flush()
        return {"outcomes": dict(buffer.counts)}

    def _is_cancelled(self, request_id: int) -> bool:
        return self._abandoned or self._host.is_cancelled(request_id)


def _field(body: dict[str, Any], name: str, kind: type[_T], default: _T | None = None) -> _T:
    """Return a field of a request's body, or the default if it is absent."""
    value = body.get(name, default)
    if type(value) is not kind:
        message = f"{name} is of type {type(value).__name__}, not {kind.__name__}."
        raise Refusal("protocol.body", message, "Follow the protocol's specification.", "kernel")
    return value


def _check_values(definition: Definition, params: dict[str, Any]) -> None:
    """Reject values that do not match the declared params. This kernel checks them too, but others may not."""
    for name, value in params.items():
        fault = misfit(definition.params["properties"].get(name, {}), value, f"{definition.name}.{name}")
        if fault:
            raise Refusal("config.param", f"{fault}.", "Change the param.")
