"""Batches of an OpenAI-compatible API: files in, a batch that is polled, files of output and of errors. No HTTP."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.providers import openai_api
from tests.providers.exchange import Conduct
from tests.providers.faults import Status
from tests.providers.files import Files, StoredFile, json_lines
from tests.providers.forms import CALLS
from tests.providers.jobs import Job, RowEnd, Told, page, settle
from tests.providers.requests import Request
from tests.providers.sightings import Sightings

FILES: Final = "/v1/files"
BATCHES: Final = "/v1/batches"
DAY_S: Final = 24 * 3600
NOT_DONE: Final = {"expired": "batch_expired", "canceled": "batch_cancelled"}


class OpenAIBatches:
    """The files and batches of one server."""

    def __init__(self, conduct: Conduct, seen: Sightings) -> None:
        self._conduct = conduct
        self._seen = seen
        self._files = Files()
        self._batches: dict[str, Batch] = {}

    def serve(self, request: Request) -> Told:
        """The body for a request, or an error; None where it is for something else."""
        match (request.method, *request.path.split("/")[2:]):
            case ("POST", "files"):
                return self._upload(request)
            case ("GET", "files", name):
                return self._files.body(name)
            case ("GET", "files", name, "content"):
                file = self._files.get(name)
                return file.data if file else Status(404, f"There is no file {name}.")
            case ("POST", "batches"):
                return self._create(request)
            case ("GET", "batches"):
                names, has_more = page([*self._batches], request, "after")
                return {"object": "list", "data": [self._batches[name].body() for name in names], "has_more": has_more}
            case ("GET", "batches", name) | ("POST", "batches", name, "cancel"):
                batch = self._batches.get(name)
                if batch is None:
                    return Status(404, f"There is no batch {name}.")
                return batch.polled() if request.method == "GET" else batch.canceled()
        return None

    def _upload(self, request: Request) -> Told:
        purpose, name = request.field("purpose"), request.field("filename")
        if not isinstance(purpose, str) or not isinstance(name, str):
            return Status(400, "A file and its purpose are required.", param="purpose")
        if purpose == "batch" and not name.endswith(".jsonl"):
            return Status(400, "A file for a batch must end in .jsonl.", param="file")
        return self._files.body(self._files.add(StoredFile(name, purpose, request.raw)))

    def _create(self, request: Request) -> Told:
        endpoint = request.field("endpoint")
        if endpoint not in CALLS or endpoint == "/v1/messages":
            return Status(400, f"Batches for {endpoint!r} are not supported.", "invalid_value", "endpoint")
        if request.field("completion_window") != "24h":
            return Status(400, "completion_window must be 24h.", "invalid_value", "completion_window")
        file = self._files.get(request.field("input_file_id"))
        if file is None or file.purpose != "batch":
            return Status(400, "input_file_id names no file for a batch.", "invalid_value", "input_file_id")
        rows, errors = self._rows(file, request)
        for row in rows:
            self._seen.row_came(row)
        ends = [] if errors else [settle(CALLS[endpoint], row, self._conduct) for row in rows]
        name = f"batch_{len(self._batches) + 1}"
        job = Job(name, ends, self._conduct.batching)
        self._batches[name] = Batch(job, request.body, errors, self._files)
        return self._batches[name].body()

    def _rows(self, file: StoredFile, batch: Request) -> tuple[list[Request], list[dict[str, Any]]]:
        """The rows of the input, and what is wrong with it."""
        rows: dict[str, Request] = {}
        errors = []
        invalid = self._conduct.batching.invalid
        if invalid or not file.data.strip():
            errors.append(_input_error(invalid or "empty_file", None))
        for number, line in enumerate(file.data.splitlines(), 1):
            row = _parsed(line)
            if not isinstance(row, dict) or not isinstance(row.get("body"), dict) or row.get("method") != "POST":
                errors.append(_input_error("invalid_json_line", number))
            elif row.get("url") != batch.field("endpoint"):
                errors.append(_input_error("url_mismatch", number))
            elif row.get("custom_id") in rows:
                errors.append(_input_error("duplicate_custom_id", number))
            else:
                name = str(row.get("custom_id"))
                rows[name] = Request(0, "POST", row["url"], batch.headers, line, body=row["body"], custom_id=name)
        return list(rows.values()), errors


class Batch:
    """One batch, told in the API's form."""

    def __init__(self, job: Job, asked: dict[str, Any], errors: list[dict[str, Any]], files: Files) -> None:
        self._job = job
        self._asked = asked
        self._errors = errors
        self._files = files
        self._fresh = True
        self._written: tuple[str | None, str | None] | None = None

    def polled(self) -> dict[str, Any]:
        """Somebody asked how it goes."""
        self._fresh = False
        self._job.poll()
        return self.body()

    def canceled(self) -> dict[str, Any]:
        """Somebody wants no more of it."""
        self._job.cancel()
        return self.body()

    def body(self) -> dict[str, Any]:
        """What the API says of it."""
        status = self._status()
        output, error = self._outcome() if status in {"completed", "expired", "cancelled"} else (None, None)
        counts = self._job.counts() if status not in {"validating", "failed"} else {}
        moments = {f"{moment}_at": int(self._job.created_s) + 60 if moment == status else None for moment in MOMENTS}
        return {
            "id": self._job.name,
            "object": "batch",
            "endpoint": self._asked["endpoint"],
            "errors": {"object": "list", "data": self._errors} if status == "failed" else None,
            "input_file_id": self._asked["input_file_id"],
            "completion_window": "24h",
            "status": status,
            "output_file_id": output,
            "error_file_id": error,
            "created_at": int(self._job.created_s),
            "expires_at": int(self._job.created_s) + DAY_S,
            **moments,
            "request_counts": {
                "total": self._job.total,
                "completed": counts.get("succeeded", 0),
                "failed": counts.get("errored", 0),
            },
            "metadata": self._asked.get("metadata"),
        }

    def _status(self) -> str:
        if self._fresh and not self._job.canceled:
            return "validating"
        if self._errors:
            return "failed"
        if self._job.canceling:
            return "cancelling"
        if self._job.canceled:
            return "cancelled"
        if not self._job.ended:
            return "finalizing" if self._job.last_poll else "in_progress"
        return "expired" if self._job.counts()["expired"] else "completed"

    def _outcome(self) -> tuple[str | None, str | None]:
        """The files of what succeeded and of what did not; none where it would have no line."""
        if self._written is None:
            ends = self._job.results()
            good = [_line(place, end) for place, end in enumerate(ends, 1) if end.how == "succeeded"]
            bad = [_line(place, end) for place, end in enumerate(ends, 1) if end.how != "succeeded"]
            self._written = (self._write("output", good), self._write("error", bad))
        return self._written

    def _write(self, kind: str, lines: list[dict[str, Any]]) -> str | None:
        if not lines:
            return None
        return self._files.add(StoredFile(f"{self._job.name}_{kind}.jsonl", "batch_output", json_lines(lines)))


MOMENTS: Final = ("in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled")


def _line(place: int, end: RowEnd) -> dict[str, Any]:
    """A row of a file: a reply or an error of HTTP is a response; what was never worked on is an error of the batch."""
    line: dict[str, Any] = {"id": f"batch_req_{place}", "custom_id": end.custom_id, "response": None, "error": None}
    if end.how in NOT_DONE:
        line["error"] = {"code": NOT_DONE[end.how], "message": f"The request was not worked on: {end.how}."}
        return line
    body = openai_api.error(end.failed) if end.failed else end.body
    code = end.failed.status if end.failed else 200
    line["response"] = {"status_code": code, "request_id": f"req_{place}", "body": body}
    return line


def _input_error(code: str, line: int | None) -> dict[str, Any]:
    return {"code": code, "line": line, "message": f"The input is not valid: {code}.", "param": None}


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
