"""Runs one command and tells what it took, as JSON; started anew for each, from a small process.

Linux counts what a process held when it forked as held by its child, so that a large one would be measured itself.
Arguments: the command's words. It must import nothing but what it needs.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

MAX_STDERR_CHARS = 2000


def main() -> None:
    """Run it to its end, whatever that is."""
    started = time.perf_counter()
    done = subprocess.run(sys.argv[1:], capture_output=True, check=False)
    wall_s = time.perf_counter() - started
    # Of all that it waited for, grandchildren included: CPU of all together, memory of the largest single process.
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = {
        "code": done.returncode,
        "wall_s": wall_s,
        "peak_mb": usage.ru_maxrss / 1024,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "stdout": done.stdout.decode(errors="replace"),
        "stderr": done.stderr.decode(errors="replace")[-MAX_STDERR_CHARS:],
    }
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
