"""The process in which a user's function runs, a program of its own: calls come in as JSON lines, answers go out so.

It runs without any other module of ours. It must not know what the function does.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import inspect
import io
import json
import os
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

PR_SET_PDEATHSIG, SIGKILL = 1, 9
MODULE = "evalsi_target_function"
MOST_CHARS = 2_000
MOST_ANSWER_CHARS = 32 * 10**6


class Unfit(Exception):
    """The function cannot be had, or be called."""


class Answers:
    """Writes answers, each a line, from any thread."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, answer: dict[str, Any]) -> None:
        """Write one; what has no JSON is an error of its call."""
        try:
            line = json.dumps(answer, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            line = self._refusal(answer, f"cannot be written as JSON: {error}")
        if len(line) > MOST_ANSWER_CHARS:
            line = self._refusal(answer, f"takes more than {MOST_ANSWER_CHARS // 10**6} MB as JSON")
        with self._lock, contextlib.suppress(BrokenPipeError):
            self._stream.write(line.encode() + b"\n")
            self._stream.flush()

    def _refusal(self, answer: dict[str, Any], what: str) -> str:
        return json.dumps({"id": answer.get("id"), "error": {"type": "", "message": f"what it returned {what}"}})


class Function:
    """The user's function, and how it is called.

    Args:
        call: it.

    Raises:
        Unfit: it takes something that a run does not have.
    """

    def __init__(self, call: Callable[..., Any]) -> None:
        parameters = list(inspect.signature(call).parameters.values())
        by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        # A wrapper that does not say what it wraps takes anything.
        plain = [one for one in parameters if one.kind in (*by_position, one.VAR_POSITIONAL)]
        must = [
            one
            for one in parameters
            if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
        if not plain:
            raise Unfit("takes no argument by its position, and is to take the record's input")
        extra = [one.name for one in must if one is not plain[0] and one.name != "trial"]
        if extra:
            raise Unfit(f"needs {', '.join(extra)} too, and gets its first argument alone, and trial where it has one")
        self._call = call
        self._takes_record = plain[0].name == "record"
        self._takes_trial = any(one.name == "trial" for one in parameters if one is not plain[0])
        # An object that can be called is asynchronous where its method is.
        self.is_async = any(map(inspect.iscoroutinefunction, (call, type(call).__call__)))

    def __call__(self, asked: dict[str, Any]) -> Any:
        """Its result for a call, or the coroutine that gives it."""
        record = asked["record"]
        if not self._takes_record and "input" not in record:
            raise Unfit("is to be called with the record's input, and the record has none")
        given = record if self._takes_record else record["input"]
        return self._call(given, **({"trial": asked["trial"]} if self._takes_trial else {}))


def load(name: str) -> Function:
    """The function of `module:function` or `./file.py:function`.

    Raises:
        Unfit: there is none.
    """
    place, _, path = name.rpartition(":")
    if place.endswith(".py"):
        found = importlib.util.spec_from_file_location(MODULE, os.path.abspath(place))
        assert found is not None
        assert found.loader is not None
        module = sys.modules[MODULE] = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    value: Any = module
    for step in path.split("."):
        if not hasattr(value, step):
            there = ", ".join(key for key, one in vars(module).items() if callable(one) and not key.startswith("_"))
            raise Unfit(f"there is no {path} in {place}" + (f", only {there}" if there else ""))
        value = getattr(value, step)
    if not callable(value):
        raise Unfit(f"{path} in {place} cannot be called")
    return Function(value)


def _is_unreachable(error: BaseException) -> bool:
    """Whether an exception comes from a connection that could not be made or was lost."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        if isinstance(one, ConnectionError | socket.gaierror):
            return True
        seen.add(id(one))
        one = one.__cause__ or one.__context__
    return False


class Failures:
    """Tells what the function raises: to the run each time, to whoever reads stderr once for each place."""

    def __init__(self) -> None:
        self._shown: set[str] = set()
        self._lock = threading.Lock()

    def told(self, error: BaseException) -> dict[str, Any]:
        """An exception as an answer tells it.

        The clients of services put the HTTP status and the headers of a refusal into what they raise.
        """
        self._show(error)
        answer: dict[str, Any] = {"type": type(error).__name__, "message": str(error)[:MOST_CHARS]}
        if _is_unreachable(error):
            answer["unreachable"] = True
        # Whatever a stranger's object does where it is asked for these, the exception itself is told.
        with contextlib.suppress(Exception):
            response: Any = getattr(error, "response", None)
            status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
            if isinstance(status, int):
                answer["status"] = status
            wait = response.headers.get("retry-after")
            if isinstance(wait, str):
                answer["retry_after"] = wait
        return answer

    def _show(self, error: BaseException) -> None:
        """Write the traceback to stderr, without the steps of this file, unless one from the same place was."""
        steps = error.__traceback__
        while steps is not None and steps.tb_frame.f_code.co_filename == __file__:
            steps = steps.tb_next
        place = f"{type(error).__name__} {traceback.format_tb(steps, limit=-1)}"
        with self._lock:
            if steps is not None and place not in self._shown:
                self._shown.add(place)
                sys.stderr.write("".join(traceback.format_exception(type(error), error, steps, limit=-8)))


def serve(function: Function, calls: BinaryIO, answers: Answers, max_concurrency: int) -> None:
    """Answer calls until there are no more."""
    failures = Failures()
    if function.is_async:
        asyncio.run(_serve_async(function, calls, answers, failures))
    else:
        _serve_in_threads(function, calls, answers, failures, max_concurrency)


def _serve_in_threads(
    function: Function, calls: BinaryIO, answers: Answers, failures: Failures, max_concurrency: int
) -> None:
    def answer(asked: dict[str, Any]) -> None:
        try:
            said = {"returned": function(asked)}
        except BaseException as error:  # noqa: BLE001 - whatever the user's code raises is the answer, SystemExit too
            said = {"error": failures.told(error)}
        answers.write({"id": asked["id"], **said})

    threads = ThreadPoolExecutor(max_concurrency)
    for line in calls:
        threads.submit(answer, json.loads(line))


async def _serve_async(function: Function, calls: BinaryIO, answers: Answers, failures: Failures) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    async def answer(asked: dict[str, Any]) -> None:
        try:
            said = {"returned": await function(asked)}
        except (Exception, asyncio.CancelledError, SystemExit) as error:  # noqa: BLE001 - as above
            said = {"error": failures.told(error)}
        answers.write({"id": asked["id"], **said})

    def read() -> None:
        for line in calls:
            made: Coroutine[Any, Any, None] = answer(json.loads(line))
            asyncio.run_coroutine_threadsafe(made, loop)
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read, name="calls", daemon=True).start()
    await ended.wait()


def main() -> None:
    """Serve the function that the first argument names, so many calls at once as the second says."""
    parent = int(sys.argv[3])
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    calls = os.fdopen(os.dup(0), "rb")
    answers = Answers(os.fdopen(os.dup(1), "wb"))
    # What the function prints must not get among the answers, nor what it reads be a call.
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    name, max_concurrency = sys.argv[1], int(sys.argv[2])
    sys.argv[:] = [name.rpartition(":")[0]]
    sys.path.insert(0, os.getcwd())
    try:
        function = load(name)
    except Unfit as unfit:
        answers.write({"failed": str(unfit)})
        return
    except BaseException as error:  # noqa: BLE001 - whatever the import raises is told, SystemExit too
        what = Failures().told(error)
        answers.write({"failed": f"{what['type']}: {what['message']}"})
        return
    answers.write({"ready": True})
    # What still is at work when no more calls come is ended from outside, where it takes too long.
    serve(function, calls, answers, max_concurrency)


if __name__ == "__main__":
    main()
