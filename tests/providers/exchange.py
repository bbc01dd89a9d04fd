"""One request to a model and what is said to it, before it becomes HTTP or a row of a batch."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.providers import embeddings_api
from tests.providers.answers import Answer, Answering, by_schema, said, usual
from tests.providers.batching import Batching
from tests.providers.changes import changed
from tests.providers.embeddings_api import Embedding, by_words
from tests.providers.faults import Changed, Fault, Plan, Status, Unsupported
from tests.providers.forms import Form
from tests.providers.limits import Limits
from tests.providers.requests import Request
from tests.providers.rules import Rules


class Conduct(NamedTuple):
    """How the server behaves."""

    answer: Answering = by_schema
    embed: Embedding = by_words
    faults: Plan = ()
    batch_faults: Plan = ()
    rules: Rules = Rules()
    limits: Limits = Limits()
    batching: Batching = Batching()
    latency_s: float = 0.0


class Spoken(NamedTuple):
    """What is said: a body, or the status of an error."""

    body: dict[str, Any] | bytes
    failed: Status | None = None


def objection(form: Form, request: Request, rules: Rules) -> Status | None:
    """What the API has against the request, its key aside."""
    if not isinstance(request.body, dict):
        return Status(400, "The body must be a JSON object.")
    return form.objection(request, rules)


def consider(request: Request, conduct: Conduct) -> tuple[Answer, Fault | None]:
    """What the model says by itself, and the fault that the test's function gives instead."""
    embeds = request.path == embeddings_api.PATH
    reply = embeddings_api.answer(request, conduct.embed) if embeds else conduct.answer(request)
    if isinstance(reply, Fault):
        return unfaulted(request), reply
    return said(reply, request), None


def unfaulted(request: Request) -> Answer:
    """The usual answer, of which a fault may need a part."""
    if request.path == embeddings_api.PATH:
        answer = embeddings_api.answer(request, by_words)
        assert isinstance(answer, Answer)
        return answer
    return said(usual(request), request)


def speak(form: Form, request: Request, answer: Answer, fault: Fault | None) -> Spoken:
    """The answer in the API's form, with a fault of its words; those of a connection are not seen here."""
    match fault:
        case Status():
            return Spoken({}, fault)
        case Unsupported():
            known = {"text", "json_object", "json_schema", "tool"} - fault.formats
            return Spoken(form.reply(request, answer), form.format_objection(request, known))
        case Changed():
            return Spoken(form.reply(request, changed(answer, fault.change), fault.change))
        case _:
            return Spoken(form.reply(request, answer))
