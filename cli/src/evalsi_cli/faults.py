"""Print the errors of a command to stderr and map them to exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from evalsi_cli.exhaustion import exhaustion
from evalsi_cli.terminal import paint, quoted
from evalsi_kernel.errors import EvalsiError, UsageError
from evalsi_kernel.status import Status

if TYPE_CHECKING:
    from evalsi_kernel.results.evaluated import Evaluation

_MAX_TRACEBACKS = 5
OK, ERROR, USAGE, GATE_FAILED, INTERRUPTED = 0, 1, 2, 3, 130


def exit_code_of(run: Callable[[], int]) -> int:
    """Run a command. Print its exception, if any, and return the exit code."""
    try:
        return run()
    except EvalsiError as error:
        return tell(error)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error  # Python 3.11 wraps a KeyboardInterrupt during class creation.
        if (known := exhaustion(error)) is not None:
            return tell(EvalsiError(*known))
        if os.environ.get("EVALSI_DEBUG"):
            raise
        fault = EvalsiError(
            f"Internal error of evalsi: {type(error).__name__}: {error}.",
            "Run it again with EVALSI_DEBUG=1, and report the traceback.",
        )
        return tell(fault)


def tell(error: EvalsiError) -> int:
    """Print an error. Return its exit code."""
    print(f"{paint('error:', 'red', sys.stderr)} {quoted(error.message)}", file=sys.stderr)
    hint = error.hint
    if (known := exhaustion(error)) is not None:
        hint = known[1]
    elif error.code in ("config.unknown_evaluator", "config.unknown_pack"):
        from evalsi_cli.absent_packs import hint_of_unknown  # Imported late: only these errors need it.

        hint = hint_of_unknown(error)
    if hint:
        print(f"  {quoted(hint)}", file=sys.stderr)
    return USAGE if isinstance(error, UsageError) else ERROR


def tell_tracebacks(evaluation: Evaluation) -> None:
    """Print the first few distinct tracebacks of evaluators, and the path of the log if there were errors."""
    for name, traceback in evaluation.tracebacks[:_MAX_TRACEBACKS]:
        lines = "".join(f"\n  {quoted(line)}" for line in traceback.split("\n"))
        print(f"{paint('traceback', 'dim', sys.stderr)} of {quoted(name)}:{lines}", file=sys.stderr)
    more = len(evaluation.tracebacks) - _MAX_TRACEBACKS
    if more > 0:
        print(f"  and {more:,} more, in the results file and in the log", file=sys.stderr)
    if evaluation.log and any(summary.errors for summary in evaluation.summaries):
        print(f"{paint('log:', 'dim', sys.stderr)} {quoted(evaluation.log)}", file=sys.stderr)


def tell_evaluation(evaluation: Evaluation, *, quiet: bool = False) -> int:
    """Print the findings, tracebacks and error of an evaluation. Return the exit code."""
    code = OK
    for finding in evaluation.findings:
        if finding.severity == "problem":
            code = ERROR
            print(f"{paint('error:', 'red', sys.stderr)} {quoted(str(finding))}", file=sys.stderr)
        elif not quiet:
            print(f"{paint('note:', 'yellow', sys.stderr)} {quoted(str(finding))}", file=sys.stderr)
    if not quiet:
        tell_tracebacks(evaluation)
    if evaluation.error is not None:
        return tell(evaluation.error)
    return INTERRUPTED if evaluation.status is Status.PARTIAL else code
