"""How to start a pack, as plain data that needs no event loop.

Named tuples load ten times faster than dataclasses, and every command waits for this module.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from evalsi_kernel.supervision.connection import Answer
    from evalsi_kernel.supervision.pack_log import PackLog
    from evalsi_kernel.supervision.transports import Transport
    from evalsi_protocol.channels import Channel

RECORD_TIMEOUT_S = 60.0
ServeInThread = Callable[["Channel"], None]


class Command(NamedTuple):
    """How to start a pack's process.

    Args:
        argv: program and arguments.
        cwd: working directory; None means the pack's scratch folder.
        whole_environment: pass all environment variables on (a user's own file), not only the harmless ones (a pack).
        memory_limit_bytes: limit of its address space; 0 means no limit.
        variables: additional environment variables.
    """

    argv: Sequence[str]
    cwd: Path | None = None
    whole_environment: bool = False
    memory_limit_bytes: int = 0
    variables: Mapping[str, str] = MappingProxyType({})


class Launch(NamedTuple):
    """How to start a pack: as a process, as a thread of this process, or by connecting to a running service.

    Args:
        name: name of the pack, for messages.
        command: command of the process.
        serve: the host loop to run in a thread.
        connect: connects to a running pack; raises `PackEnvironmentError` where there is none.
        start_timeout_s: timeout from the start to the answer to hello.
        rebuild: rebuilds the pack's environment, in case that is why the pack does not start; None where it has none.
        guard: wraps the handler of the pack's requests so that it rejects those without permission. Its second argument
            tells whether a session is scoring a record. None permits everything.
        log: log of what the process writes to stderr; None keeps only the last lines.
    """

    name: str
    command: Command | None = None
    serve: ServeInThread | None = None
    connect: Callable[[], Awaitable[Transport]] | None = None
    start_timeout_s: float = 60.0
    rebuild: Callable[[], Launch] | None = None
    guard: Callable[[Answer, Callable[[object, object], bool]], Answer] | None = None
    log: PackLog | None = None


class Opening(NamedTuple):
    """An evaluator to open in every process of a pack.

    Args:
        session: ID of its session.
        evaluator: name of the evaluator.
        params: its params.
        version: required version; "" accepts any.
    """

    session: int
    evaluator: str
    params: Mapping[str, Any] = MappingProxyType({})
    version: str = ""


class PoolLimits(NamedTuple):
    """Resource limits of the processes of a pack.

    Args:
        processes: maximum number of processes.
        concurrency: records in progress within one process, for async evaluators.
        record_timeout_s: timeout of one record and evaluator.
        memory_bytes: a process that uses more memory is replaced; 0 means no limit.
        max_requests: concurrent requests to one process. A few keep a computing process busy; one that waits needs as
            many as it has records in progress.
    """

    processes: int = 1
    concurrency: int = 16
    record_timeout_s: float = RECORD_TIMEOUT_S
    memory_bytes: int = 2 * 1024**3
    max_requests: int = 4
