"""One request in, one response or fault out: where each path leads, and what is checked in which order. No thread."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final

from aiohttp import web

from tests.providers import anthropic_api, anthropic_batches, openai_api, openai_batches
from tests.providers.exchange import Conduct, Spoken, consider, objection, speak, unfaulted
from tests.providers.faults import Changed, Cut, Delay, Fault, Page, Status, Unsupported, planned
from tests.providers.forms import CALLS, Form, form_of
from tests.providers.limits import Meter
from tests.providers.misbehaviour import JSON, cut_off
from tests.providers.requests import Request
from tests.providers.sightings import Sightings
from tests.providers.streams import EVENTS

SEEN: Final = "/seen"
BATCH_PATHS: Final = (openai_batches.FILES, openai_batches.BATCHES, anthropic_batches.BATCHES)
LINES: Final = "application/x-jsonl"


class Service:
    """Answers requests as its conduct says, and keeps what it saw."""

    def __init__(self, conduct: Conduct, seen: Sightings, scheme: str = "http") -> None:
        self._conduct = conduct
        self._seen = seen
        self._meter = Meter(conduct.limits)
        self._openai = openai_batches.OpenAIBatches(conduct, seen)
        self._anthropic = anthropic_batches.AnthropicBatches(conduct, seen, scheme)
        self.released = asyncio.Event()

    async def handle(self, http: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        request = await self._read(http)
        form = form_of(request)
        if request.path == SEEN:
            return _sent(_dump(self._seen.counts()))
        self._seen.came(request)
        if request.number:
            response = await self._call(http, form, request)
        else:
            response = await self._other(http, form, request)
        self._seen.statuses[response.status] += 1
        return response

    async def _read(self, http: web.BaseRequest) -> Request:
        path, method = http.path, http.method
        if path == openai_batches.FILES and method == "POST":
            return await _upload(http)
        raw = await http.read()
        number = self._seen.called() if path in CALLS and method == "POST" else 0
        return Request(number, method, path, http.headers, raw, body=_parsed(raw), query=http.query)

    async def _call(self, http: web.BaseRequest, form: Form, request: Request) -> web.StreamResponse:
        wait_s = self._meter.wait_s(asyncio.get_running_loop().time(), self._seen.in_flight)
        if wait_s is not None:
            told = self._meter.retry_after(wait_s)
            return self._failed(form, Status(429, "Too many requests.", "rate_limit_exceeded", retry_after=told))
        self._seen.began()
        done = False
        try:
            response = await self._answered(http, form, request)
            done = True
        finally:
            self._seen.ended(abandoned=not done)
        return response

    async def _answered(self, http: web.BaseRequest, form: Form, request: Request) -> web.StreamResponse:
        rules = self._conduct.rules
        wrong = form.key_objection(request, rules) or objection(form, request, rules)
        if wrong is not None:
            return self._failed(form, wrong)
        if self._conduct.latency_s:
            await asyncio.sleep(self._conduct.latency_s)
        fault = await _waited(planned(self._conduct.faults, request.number))
        if fault is not None:
            spoken = speak(form, request, unfaulted(request), fault)
            return await self._respond(http, form, spoken, fault, request=request)
        try:
            answer, fault = consider(request, self._conduct)
        except Exception as failure:  # noqa: BLE001 - the test's own function may fail in any way; the test hears of it
            return self._broken(form, failure)
        fault = await _waited(fault)
        return await self._respond(http, form, speak(form, request, answer, fault), fault, request=request)

    async def _respond(
        self,
        http: web.BaseRequest,
        form: Form,
        spoken: Spoken,
        fault: Fault | None,
        *,
        request: Request | None = None,
        content_type: str = JSON,
    ) -> web.StreamResponse:
        if isinstance(fault, Page):
            return web.Response(status=fault.status, body=fault.body, content_type=fault.content_type)
        if spoken.failed:
            return self._failed(form, spoken.failed)
        body = spoken.body if isinstance(spoken.body, bytes) else _dump(spoken.body)
        if request is not None and request.field("stream") and isinstance(spoken.body, dict):
            body, content_type = form.in_pieces(request, spoken.body), EVENTS
        if isinstance(fault, Cut):
            return await cut_off(http, fault, body, self.released)
        return _sent(body, content_type=content_type, headers={form.REQUEST_ID: self._seen.request_id()})

    async def _other(self, http: web.BaseRequest, form: Form, request: Request) -> web.StreamResponse:
        """A request that calls no model: models, files, batches."""
        wrong = form.key_objection(request, self._conduct.rules)
        if wrong:
            return self._failed(form, wrong)
        if (request.method, request.path) == ("GET", "/v1/models"):
            api = anthropic_api if request.api == "anthropic" else openai_api
            return _sent(_dump(api.models(self._conduct.rules)))
        if not request.path.startswith(BATCH_PATHS):
            return self._failed(form, _nowhere(request))
        fault = await _waited(planned(self._conduct.batch_faults, self._seen.batch_request_came()))
        if isinstance(fault, Status):
            return self._failed(form, fault)
        batches = self._anthropic if request.path.startswith(anthropic_batches.BATCHES) else self._openai
        try:
            if isinstance(fault, Changed | Unsupported):
                raise TypeError(f"{fault} is a fault of an answer, and files and batches have none")
            told = batches.serve(request)
        except Exception as failure:  # noqa: BLE001 - as above
            return self._broken(form, failure)
        if told is None or isinstance(told, Status):
            return self._failed(form, told or _nowhere(request))
        kind = LINES if isinstance(told, bytes) else JSON
        return await self._respond(http, form, Spoken(told), fault, content_type=kind)

    def _broken(self, form: Form, failure: Exception) -> web.Response:
        self._seen.failures.append(failure)
        return self._failed(form, Status(500, f"The test's own function failed: {failure}"))

    def _failed(self, form: Form, status: Status) -> web.Response:
        name = self._seen.request_id()
        headers = {form.REQUEST_ID: name}
        if status.retry_after is not None:
            headers["Retry-After"] = status.retry_after
        return _sent(_dump(form.error(status, name)), status=status.status, headers=headers)


async def _waited(fault: Fault | None) -> Fault | None:
    """The fault after its delay."""
    while isinstance(fault, Delay):
        await asyncio.sleep(fault.latency_s)
        fault = fault.then
    return fault


async def _upload(http: web.BaseRequest) -> Request:
    """A file that is sent in a form: its bytes are `raw`, the other fields the body."""
    if not http.content_type.startswith("multipart/"):
        return Request(0, http.method, http.path, http.headers, await http.read(), body=None)
    body: dict[str, Any] = {}
    raw = b""
    for name, value in (await http.post()).items():
        if isinstance(value, web.FileField):
            body["filename"], raw = value.filename, value.file.read()
            value.file.close()
        else:
            body[name] = value
    return Request(0, http.method, http.path, http.headers, raw, body=body)


def _nowhere(request: Request) -> Status:
    return Status(404, f"Nothing is served at {request.method} {request.path}.")


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return None


_encode: Final[Callable[[Any], str]] = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _dump(body: Any) -> bytes:
    return _encode(body).encode()


def _sent(
    body: bytes, *, status: int = 200, content_type: str = JSON, headers: dict[str, str] | None = None
) -> web.Response:
    return web.Response(status=status, body=body, headers={"Content-Type": content_type, **(headers or {})})
