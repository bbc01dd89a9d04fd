"""Plugin hook that tells the kernel how to start a pack of the runtime `wasm`.

wasmtime is not imported here, so that planning a run stays fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.errors import PackError
from evalsi_kernel.files.paths import cache_dir
from evalsi_kernel.hooks import hookimpl
from evalsi_kernel.packs.pack_info import PackInfo
from evalsi_kernel.supervision.launch import Command, Launch

RUNTIME = "wasm"
GUEST_SHARE = 2
"""Divisor: the memories of all instances together may take `memory_mb` / `GUEST_SHARE`."""
MAX_GUEST_BYTES = 2 * 1024**3 - 64 * 1024
MAX_INSTANCES = 8
START_TIMEOUT_S = 300.0
"""Start timeout. The first compilation of a component that includes a language runtime takes half a minute."""
# Options allowed in `[run] options`, and the minimum of each.
OPTIONS = {"fuel_per_record": 1_000, "instances": 1}


@hookimpl
def evalsi_runtime(pack: PackInfo) -> Launch | None:
    """Return how to start the Python process that hosts the module; None for another runtime.

    Raises:
        PackError: `pack.import` if the module is missing; `pack.manifest` if an option is invalid.
    """
    if pack.runtime != RUNTIME:
        return None
    module = pack.folder / pack.module
    if not module.is_file():
        raise PackError(
            f"The pack {pack.name} has no module: {module} is not there.",
            "Build it, or install the pack again.",
            code="pack.import",
        )
    _check_options(pack)
    # A CPU-bound pack already has one process per core; otherwise the instances share one process.
    instances = pack.options.get("instances") or (
        1 if pack.workers == "cpu" else min(os.cpu_count() or 1, MAX_INSTANCES)
    )
    memory_bytes = min(pack.memory_mb * 1024**2 // (GUEST_SHARE * instances), MAX_GUEST_BYTES)
    words: Mapping[str, Any] = {
        "module": module,
        "manifest": pack.folder / "plugin.toml",
        "name": pack.name,
        "version": pack.version,
        "cache": cache_dir() / "wasm",
        "instances": instances,
        "memory-bytes": memory_bytes,
        "fuel": pack.options.get("fuel_per_record", 0),
    }
    flags = [f"--{word}={value}" for word, value in words.items()]
    # -I ignores PYTHON* variables and the current folder. There is no limit on the address space here, because the
    # engine reserves far more than it uses; the runner limits the memory of each instance instead.
    command = Command([sys.executable, "-I", "-m", "evalsi_wasm.runner", *flags])
    return Launch(pack.name, command, start_timeout_s=START_TIMEOUT_S)


def _check_options(pack: PackInfo) -> None:
    for name, value in pack.options.items():
        if name not in OPTIONS:
            told, hint = f"has no option {name!r}", choose(name, tuple(OPTIONS))
        elif type(value) is not int or value < OPTIONS[name]:
            told, hint = f"takes {name} as a whole number from {OPTIONS[name]:,} on, not {value!r}", "Change it."
        else:
            continue
        message = f"The runtime wasm {told} (run.options of the pack {pack.name})."
        raise PackError(message, hint, code="pack.manifest")
