"""How a pack comes to life, as plain data: the part of supervision that needs no event loop.

Named tuples, since they load in a tenth of a dataclass's time, on which every command waits. It must not know the
protocol.
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
        cwd: where it runs; None gives it its private scratch folder.
        whole_environment: pass the caller's variables on (a user's own file), not only the harmless ones (a pack).
        memory_limit_bytes: address space it may use; 0 means no limit.
        variables: more environment variables.
    """

    argv: Sequence[str]
    cwd: Path | None = None
    whole_environment: bool = False
    memory_limit_bytes: int = 0
    variables: Mapping[str, str] = MappingProxyType({})


class Launch(NamedTuple):
    """How a pack comes to life: as a process, in a thread of this process, or as a service that runs already.

    Args:
        name: of the pack, for error sentences.
        command: of the process.
        serve: the host loop to run in a thread.
        connect: opens a stream to a pack that runs already; raises `PackEnvironmentError` when there is none.
        start_timeout_s: how long it may take from start to the answer to hello.
        rebuild: makes the pack's environment anew, in case that is why it does not start; None where it has none.
        guard: makes of what serves the pack's asks, and of what says whether a session is at work on a record, what
            serves only the asks that it may make; None where it may make all.
        log: where what its process writes to stderr is kept; None keeps the last lines alone.
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
    """An evaluator to open in every process of a pack; `version`, where it is known, is the one that it must be."""

    session: int
    evaluator: str
    params: Mapping[str, Any] = MappingProxyType({})
    version: str = ""


class PoolLimits(NamedTuple):
    """What the processes of a pack may use.

    Args:
        processes: at most so many processes.
        concurrency: records in flight within one process, for async evaluators.
        record_timeout_s: how long one record may take one evaluator.
        memory_bytes: a process that holds more is replaced by a fresh one; 0 means no limit.
        lanes: requests in flight to one process; few keep a computing one busy, a waiting one takes as many as it has
            records in flight, however large they are.
    """

    processes: int = 1
    concurrency: int = 16
    record_timeout_s: float = RECORD_TIMEOUT_S
    memory_bytes: int = 2 * 1024**3
    lanes: int = 4
