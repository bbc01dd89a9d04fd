"""Batches of Anthropic's API: messages in, a batch that is polled, results as JSON lines. No HTTP."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

from tests.providers import anthropic_api
from tests.providers.exchange import Conduct
from tests.providers.faults import Status
from tests.providers.files import json_lines
from tests.providers.jobs import Job, RowEnd, Told, page, settle
from tests.providers.requests import Request
from tests.providers.sightings import Sightings

BATCHES: Final = "/v1/messages/batches"
CUSTOM_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
DAY_S: Final = 24 * 3600
WAYS: Final = ("succeeded", "errored", "canceled", "expired")


class AnthropicBatches:
    """The batches of one server."""

    def __init__(self, conduct: Conduct, seen: Sightings, scheme: str = "http") -> None:
        self._conduct = conduct
        self._scheme = scheme
        self._seen = seen
        self._jobs: dict[str, Job] = {}

    def serve(self, request: Request) -> Told:
        """The body for a request, or an error; None where it is for something else."""
        match (request.method, *request.path.split("/")[4:]):
            case ("POST",):
                return self._create(request)
            case ("GET",):
                names, has_more = page([*self._jobs], request, "after_id")
                rows = [_body(self._jobs[name], self._origin(request)) for name in names]
                first, last = (names[0], names[-1]) if names else (None, None)
                return {"data": rows, "has_more": has_more, "first_id": first, "last_id": last}
            case ("GET", name) | ("GET", name, "results") | ("POST", name, "cancel"):
                job = self._jobs.get(name)
                return self._of(job, request) if job else Status(404, f"There is no batch {name}.")
        return None

    def _of(self, job: Job, request: Request) -> Told:
        if request.path.endswith("/results"):
            return json_lines(map(_line, job.results())) if job.ended else Status(404, "The batch has not ended yet.")
        if request.method == "POST":
            job.cancel()
        else:
            job.poll()
        return _body(job, self._origin(request))

    def _origin(self, request: Request) -> str:
        return f"{self._scheme}://{request.headers['Host']}"

    def _create(self, batch: Request) -> Told:
        given = batch.field("requests")
        if not isinstance(given, list) or not given:
            return Status(400, "requests: at least one request is required")
        rows: dict[str, Request] = {}
        for place, row in enumerate(given):
            name = row.get("custom_id") if isinstance(row, dict) else None
            if not isinstance(name, str) or not CUSTOM_ID.fullmatch(name):
                return Status(400, f"requests.{place}.custom_id: it must match {CUSTOM_ID.pattern}")
            if name in rows:
                return Status(400, f"requests.{place}.custom_id: {name} stands twice")
            rows[name] = Request(0, "POST", "/v1/messages", batch.headers, b"", body=row.get("params"), custom_id=name)
        for request in rows.values():
            self._seen.row_came(request)
        ends = [settle(anthropic_api, request, self._conduct) for request in rows.values()]
        job = Job(f"msgbatch_{len(self._jobs) + 1}", ends, self._conduct.batching)
        self._jobs[job.name] = job
        return _body(job, self._origin(batch))


def _body(job: Job, origin: str) -> dict[str, Any]:
    """What the API says of a batch: rows count as processing until all have ended."""
    counts = job.counts() if job.ended else {}
    return {
        "id": job.name,
        "type": "message_batch",
        "processing_status": "ended" if job.ended else "canceling" if job.canceling else "in_progress",
        "request_counts": {"processing": 0 if job.ended else job.total} | {way: counts.get(way, 0) for way in WAYS},
        "created_at": _moment(job.created_s),
        "expires_at": _moment(job.created_s + DAY_S),
        "ended_at": _moment(job.created_s + 60) if job.ended else None,
        "cancel_initiated_at": _moment(job.created_s + 60) if job.canceled else None,
        "archived_at": None,
        "results_url": f"{origin}{BATCHES}/{job.name}/results" if job.ended else None,
    }


def _moment(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).isoformat().replace("+00:00", "Z")


def _line(end: RowEnd) -> dict[str, Any]:
    result: dict[str, Any] = {"type": end.how}
    if end.how == "succeeded":
        result["message"] = end.body
    if end.failed:
        result["error"] = anthropic_api.error(end.failed)
    return {"custom_id": end.custom_id, "result": result}
