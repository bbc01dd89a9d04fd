"""One request in, one response or fault out: where each path leads, and what is checked in which order. No thread."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final, NamedTuple

from aiohttp import web

from tests.providers import openai_api
from tests.providers.answers import Answer, Answering, by_schema, said, usual
from tests.providers.changes import changed
from tests.providers.faults import Changed, Cut, Delay, Fault, Page, Plan, Status, Unsupported, planned
from tests.providers.limits import Limits, Meter
from tests.providers.misbehaviour import JSON, cut_off
from tests.providers.requests import Request
from tests.providers.rules import Rules
from tests.providers.sightings import Sightings

CALLS: Final = frozenset({"/v1/chat/completions"})
SEEN: Final = "/seen"


class Conduct(NamedTuple):
    """How the server behaves."""

    answer: Answering = by_schema
    faults: Plan = ()
    rules: Rules = Rules()
    limits: Limits = Limits()
    latency_s: float = 0.0


class Service:
    """Answers requests as its conduct says, and keeps what it saw."""

    def __init__(self, conduct: Conduct, seen: Sightings) -> None:
        self._conduct = conduct
        self._seen = seen
        self._meter = Meter(conduct.limits)
        self.released = asyncio.Event()

    async def handle(self, http: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        raw = await http.read()
        path = http.path
        number = self._seen.called() if path in CALLS and http.method == "POST" else 0
        request = Request(number, http.method, path, http.headers, raw, _parsed(raw))
        self._seen.came(request)
        response = await (self._call(http, request) if number else self._other(request))
        self._seen.statuses[response.status] += 1
        return response

    async def _call(self, http: web.BaseRequest, request: Request) -> web.StreamResponse:
        wait_s = self._meter.wait_s(asyncio.get_running_loop().time(), self._seen.in_flight)
        if wait_s is not None:
            told = self._meter.retry_after(wait_s)
            return _failed(Status(429, "Too many requests; slow down.", "rate_limit_exceeded", retry_after=told))
        self._seen.began()
        done = False
        try:
            response = await self._answered(http, request)
            done = True
        finally:
            self._seen.ended(abandoned=not done)
        return response

    async def _answered(self, http: web.BaseRequest, request: Request) -> web.StreamResponse:
        objection = _objection(request, self._conduct.rules)
        if objection is not None:
            return _failed(objection)
        if self._conduct.latency_s:
            await asyncio.sleep(self._conduct.latency_s)
        fault = planned(self._conduct.faults, request.number)
        try:
            reply = self._conduct.answer(request) if fault is None else usual(request)
        except Exception as failure:  # noqa: BLE001 - the test's own function may fail in any way; the test hears of it
            self._seen.failures.append(failure)
            return _failed(Status(500, f"The test's answer function failed: {failure}"))
        if isinstance(reply, Fault):
            return await self._faulty(http, request, said(usual(request), request), reply)
        return await self._faulty(http, request, said(reply, request), fault)

    async def _faulty(
        self, http: web.BaseRequest, request: Request, answer: Answer, fault: Fault | None
    ) -> web.StreamResponse:
        if isinstance(fault, Delay):
            await asyncio.sleep(fault.latency_s)
            fault = fault.then
        match fault:
            case Status():
                return _failed(fault)
            case Page():
                return web.Response(status=fault.status, body=fault.body, content_type=fault.content_type)
            case Unsupported():
                objection = openai_api.format_objection(request, {"text", "json_object", "json_schema"} - fault.formats)
                return _failed(objection) if objection else _json(openai_api.completion(request, answer))
            case Changed():
                return _json(openai_api.completion(request, changed(answer, fault.change), fault.change))
            case Cut():
                return await cut_off(http, fault, _dump(openai_api.completion(request, answer)), self.released)
        return _json(openai_api.completion(request, answer))

    async def _other(self, request: Request) -> web.Response:
        rules = self._conduct.rules
        if request.path == SEEN:
            return _json(self._seen.counts())
        objection = openai_api.key_objection(request, rules)
        if objection:
            return _failed(objection)
        if (request.method, request.path) == ("GET", "/v1/models"):
            return _json(openai_api.models(rules))
        return _failed(Status(404, f"Nothing is served at {request.method} {request.path}."))


def _objection(request: Request, rules: Rules) -> Status | None:
    if objection := openai_api.key_objection(request, rules):
        return objection
    if not isinstance(request.body, dict):
        return Status(400, "The body must be a JSON object.")
    return openai_api.model_objection(request, rules) or openai_api.chat_objection(request, rules)


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return None


def _dump(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _json(body: Any, status: int = 200) -> web.Response:
    return web.Response(status=status, body=_dump(body), content_type=JSON)


def _failed(status: Status) -> web.Response:
    response = _json(openai_api.error(status), status.status)
    if status.retry_after is not None:
        response.headers["Retry-After"] = status.retry_after
    return response
