"""What a service says of itself becomes a plugin.toml, whatever language it is written in, or is told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evalsi_protocol.machine import Machine, RequestReceived
from evalsi_protocol.unix_sockets import bind_unix
from tests.cli.running import BOUND_S, Done, evalsi

EVALUATOR = {"name": "polite", "version": "1", "needs": ["output"], "params": {"type": "object", "properties": {}}}


@contextmanager
def saying(at: str, evaluator: dict[str, Any]) -> Iterator[None]:
    """A service that answers one connection, and says that it has this evaluator."""
    pack = {"name": "acme/style", "version": "1.0.0"}
    answers: dict[str, dict[str, Any]] = {
        "hello": {"major": 1, "pack": pack, "capabilities": ["score"], "window": 4},
        "describe": {"pack": pack, "evaluators": [EVALUATOR | evaluator]},
        "bye": {},
    }

    def answer() -> None:
        connection, _ = listener.accept()
        machine = Machine("pack", window=4)
        with connection:
            while data := connection.recv(65536):
                for event in machine.receive(data):
                    if isinstance(event, RequestReceived):
                        machine.respond(event.id, answers[event.method])
                connection.sendall(machine.data_to_send())

    with bind_unix(at.removeprefix("unix://")) as listener:
        listener.listen()
        answering = threading.Thread(target=answer)
        answering.start()
        yield
        answering.join(BOUND_S)


def attached(project: Path, at: str, evaluator: dict[str, Any]) -> Done:
    with saying(at, evaluator):
        return evalsi("plugins", "attach", at, "--no-start", cwd=project)


def test_a_default_of_null_is_none(project: Path, at: str) -> None:
    limit = {"type": ["number", "null"], "default": None}
    done = attached(project, at, {"params": {"type": "object", "properties": {"limit": limit}}, "asks": None})
    assert done.code == 0, done.err
    written = (project / ".evalsi" / "packs" / "acme+style" / "plugin.toml").read_text("utf-8")
    assert "[evaluators.params.properties.limit]" in written
    assert "default" not in written


@pytest.mark.parametrize(
    ("evaluator", "told"),
    [
        ({"outputs": [None]}, "says of itself what no plugin.toml can hold"),
        ({"summary": b"x"}, "says of itself what no plugin.toml can hold"),
        ({"name": 5}, "evaluators[0].name must be text, not the number 5"),
        ({"summary": "\x1b[2K"}, "evaluators[0].summary must be one line"),
    ],
)
def test_what_no_manifest_may_say_is_told_and_nothing_is_recorded(
    evaluator: dict[str, Any], told: str, project: Path, at: str
) -> None:
    done = attached(project, at, evaluator)
    assert done.code == 1
    assert told in done.err
    assert not (project / "evalsi.lock").exists()
