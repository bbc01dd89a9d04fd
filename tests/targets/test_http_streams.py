"""A service that answers in pieces: its texts joined, what its events say besides, and streams that are none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.target import Generated
from tests.targets.asking import ask, failure_of, problems, with_target
from tests.targets.service import Service, serving

DELTA, STOP = "choices[0].delta.content", "choices[0].finish_reason"


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serving() as running:
        yield running


def piece(text: str | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    delta = {} if text is None else {"content": text}
    return {"choices": [{"delta": delta, "finish_reason": finish}], **more}


def events(*pieces: Any, end: str = "data: [DONE]\n\n") -> str:
    told = [f"data: {one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}\n\n" for one in pieces]
    return "".join(told) + end


def lines(*pieces: Any) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in pieces)


def made_of(service: Service, folder: Path, stream: str, kind: str = "text/event-stream", **options: Any) -> Generated:
    service.response = stream
    url = f"{service.url}/stream?type={kind}"
    made: Generated = with_target("http", folder, ask, url=url, stream=True, **options)
    return made


def error_of(
    service: Service, folder: Path, stream: str, kind: str = "text/event-stream", **options: Any
) -> ProviderError:
    service.response = stream
    return failure_of("http", folder, url=f"{service.url}/stream?type={kind}", stream=True, **options)


ANSWER = (piece("Os"), piece("lo \u2028🎈"), piece(finish="stop", usage={"prompt_tokens": 7, "completion_tokens": 2}))


@pytest.mark.parametrize(
    ("stream", "kind"), [(events(*ANSWER), "text/event-stream"), (lines(*ANSWER), "application/x-ndjson")]
)
def test_pieces_are_joined_and_what_is_said_besides_is_found(
    service: Service, tmp_path: Path, stream: str, kind: str
) -> None:
    made = made_of(service, tmp_path, stream, kind, delta_path=DELTA, stop_reason_path=STOP, usage_path="usage")
    assert made.output == "Oslo \u2028🎈"
    assert (made.tokens.input, made.tokens.output) == (7, 2)
    assert made.metadata == {"finish": "stop"}


def test_pieces_may_be_text_themselves(service: Service, tmp_path: Path) -> None:
    assert made_of(service, tmp_path, events("Os", "lo")).output == "Oslo"
    assert made_of(service, tmp_path, events("Os", "lo", end="")).output == "Oslo"
    assert made_of(service, tmp_path, events()).output == ""
    assert made_of(service, tmp_path, "Os\nlo\n", "text/plain").output == "Os\nlo\n"


def test_the_last_thing_that_is_said_counts(service: Service, tmp_path: Path) -> None:
    steps = [{"type": "tool", "name": "search"}]
    pieces = (piece("a", steps=[]), piece("b", steps=steps), piece("c", "length"))
    made = made_of(service, tmp_path, events(*pieces), delta_path=DELTA, stop_reason_path=STOP, trajectory_path="steps")
    assert made.fields == {"trajectory": {"steps": steps}}
    assert made.metadata == {"finish": "length"}


def test_a_stream_that_is_to_say_why_it_ended_and_does_not_is_broken_off_and_no_output(
    service: Service, tmp_path: Path
) -> None:
    error = error_of(service, tmp_path, events(piece("Os"), end=""), delta_path=DELTA, stop_reason_path=STOP)
    assert (error.error.code, error.error.retry) == ("provider.connection", "later")
    assert "ended its stream" in error.error.message


@pytest.mark.parametrize(
    ("stream", "kind", "told"),
    [
        (events("{"), "text/event-stream", "is no JSON"),
        ("<html>Sign in</html>", "text/html", "an HTML page"),
        (lines(piece("a")) + '{"choices": [', "application/x-ndjson", "is no JSON"),
        (events({"choices": [{"delta": {"content": 5}}]}), "text/event-stream", f"has no text at {DELTA}"),
    ],
)
def test_what_is_no_stream_is_an_error_that_shows_it(
    service: Service, tmp_path: Path, stream: str, kind: str, told: str
) -> None:
    error = error_of(service, tmp_path, stream, kind, delta_path=DELTA)
    assert error.error.code == "provider.bad_reply"
    assert told in error.error.message


def test_a_reply_in_one_piece_says_why_it_ended_too(service: Service, tmp_path: Path) -> None:
    service.response = json.dumps({"reply": "Os", "why": "length"})
    url = f"{service.url}/stream?type=application/json"
    made: Generated = with_target("http", tmp_path, ask, url=url, output_path="reply", stop_reason_path="why")
    assert (made.output, made.metadata) == ("Os", {"finish": "length"})
    plain: Generated = with_target("http", tmp_path, ask, url=url, output_path="reply", stop_reason_path="nowhere")
    assert (plain.output, plain.metadata) == ("Os", {})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"delta_path": "a"}, "spec.target has a delta_path, and no stream that it is in. Add stream: true"),
        ({"stream": True, "output_path": "a"}, "has an output_path, and the output of a stream is in many pieces"),
        ({"stream": True, "delta_path": "a..b"}, "spec.target.delta_path"),
    ],
)
def test_keys_that_do_not_fit_together_are_told(options: dict[str, Any], told: str) -> None:
    found = problems("http", url="http://x", **options)
    assert any(told in one for one in found), found
