"""The faults that the server can be told to commit, as plain data. How each is committed stands in `misbehaviour.py`.

A plan is a list of faults in the order of the calls (None for a call that goes well; after its end all go well), or a
function of the call's number, which counts from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Literal

Change = Literal["empty_content", "refusal", "length", "content_filter", "no_choices", "no_usage"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Anything that goes wrong with a call."""


@dataclass(frozen=True, slots=True)
class Status(Fault):
    """An error with a body in the API's own form."""

    status: int
    message: str
    code: str | None = None
    """OpenAI's `error.code`; Anthropic's has none."""
    param: str | None = None
    kind: str | None = None
    """`error.type`, where it is not the usual one of the status."""
    retry_after: str | None = None


@dataclass(frozen=True, slots=True)
class Page(Fault):
    """A body that is not the API's: a proxy's page, nothing at all."""

    status: int
    body: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class Cut(Fault):
    """A connection or a body that ends or stops too early."""

    how: Literal["before_answer", "mid_body", "stall_mid_body", "truncated_json", "hang", "held"]


@dataclass(frozen=True, slots=True)
class Changed(Fault):
    """A good answer with one thing wrong."""

    change: Change


@dataclass(frozen=True, slots=True)
class Unsupported(Fault):
    """400 for a request that asks for one of these formats; any other goes well."""

    formats: frozenset[str]


@dataclass(frozen=True, slots=True)
class Delay(Fault):
    """A wait, and then what follows."""

    latency_s: float
    then: Fault | None = None


Plan = Sequence[Fault | None] | Callable[[int], Fault | None]


def planned(plan: Plan, number: int) -> Fault | None:
    """The fault of the call with this number."""
    if callable(plan):
        return plan(number)
    return plan[number - 1] if number <= len(plan) else None


def always(fault: Fault) -> Plan:
    """The same fault for every call."""
    return lambda number: fault


def rate_limited(retry_after_s: float | None = None, *, as_date: bool = False) -> Status:
    """429, with Retry-After in seconds, as an HTTP date so many seconds from now, or without one."""
    told = None
    if retry_after_s is not None:
        then = datetime.now(UTC) + timedelta(seconds=retry_after_s)
        told = format_datetime(then, usegmt=True) if as_date else f"{retry_after_s:g}"
    return Status(429, "Too many requests; slow down.", "rate_limit_exceeded", retry_after=told)


def quota_exhausted(code: str = "insufficient_quota") -> Status:
    """429 that no waiting hints; OpenAI also says `credit_balance_exhausted` or `project_spend_limit_exceeded`."""
    return Status(429, "The quota of this account is used up.", code, kind="insufficient_quota")


def server_error(status: int = 500) -> Status:
    """An error of the vendor's own."""
    return Status(status, "The server failed while it worked on the request.")


def overloaded() -> Status:
    """529, as Anthropic says that it has too much to do."""
    return Status(529, "Overloaded")


def unauthorized() -> Status:
    """401 for a key that is wrong."""
    return Status(401, "The API key is not valid.", "invalid_api_key")


def forbidden() -> Status:
    """403 for a key that may not do this."""
    return Status(403, "This key may not use that resource.")


def not_found() -> Status:
    """404 for a model that does not exist."""
    return Status(404, "That model does not exist.", "model_not_found")


def bad_request(message: str = "The request is not valid.", *, code: str | None = None) -> Status:
    """400 for a request that the vendor does not take."""
    return Status(400, message, code)


def html_page(status: int = 503) -> Page:
    """An HTML page, as a proxy in between sends it; with status 200 it passes for an answer until it is read."""
    return Page(status, b"<!doctype html>\n<title>Unavailable</title>\n<h1>Please come back later</h1>\n", "text/html")


def empty_body(status: int = 200) -> Page:
    """A body of no bytes."""
    return Page(status, b"", "application/json")


def close_before_answer() -> Cut:
    """The connection is closed and nothing was answered."""
    return Cut("before_answer")


def close_mid_body() -> Cut:
    """The connection is closed after half of the promised body."""
    return Cut("mid_body")


def stall_mid_body() -> Cut:
    """Half of the promised body comes, then nothing, until the server stops."""
    return Cut("stall_mid_body")


def truncated_json() -> Cut:
    """A whole HTTP body that holds the first half of the JSON."""
    return Cut("truncated_json")


def hang() -> Cut:
    """Nothing is answered until the server stops or the client leaves."""
    return Cut("hang")


def held() -> Cut:
    """Answered well, but not before the test calls `release`."""
    return Cut("held")


def empty_content() -> Changed:
    """An answer that says nothing."""
    return Changed("empty_content")


def refusal() -> Changed:
    """The model declines."""
    return Changed("refusal")


def cut_text() -> Changed:
    """The first half of the answer, with the finish of one that ran out of tokens."""
    return Changed("length")


def content_filter() -> Changed:
    """The vendor's filter stopped the answer."""
    return Changed("content_filter")


def missing_choices() -> Changed:
    """A reply without the field that holds the answer."""
    return Changed("no_choices")


def missing_usage() -> Changed:
    """A reply that does not say what it cost."""
    return Changed("no_usage")


def unsupported_format(*formats: str) -> Unsupported:
    """400 where the request asks for one of these formats: `json_schema`, `json_object`."""
    return Unsupported(frozenset(formats))


def delay(latency_s: float, then: Fault | None = None) -> Delay:
    """A wait before the answer, or before another fault."""
    return Delay(latency_s, then)
