"""`evalsi doctor`: check whether this machine can run what is installed; `evalsi doctor PACK` also starts that pack.

It repairs nothing but a broken environment, and reports that.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from evalsi_cli.checks import Check, are_well, as_dict, check, print_lines
from evalsi_cli.faults import ERROR, OK
from evalsi_cli.models import add_model_flags, models_of
from evalsi_cli.planted import planted_path, run_judge_test, run_reader_test
from evalsi_cli.terminal import as_json
from evalsi_kernel.broker.settings import BrokerSettings
from evalsi_kernel.errors import EvalsiError
from evalsi_kernel.extensions.hook_calls import environment_builder
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.files.paths import cache_dir, pack_search_path
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.packs.pack_info import PackInfo
from evalsi_kernel.planning.environments import pack_state
from evalsi_kernel.planning.launches import HARD_LIMIT_FACTOR, launch_pack
from evalsi_kernel.results.grid import printable_lines
from evalsi_kernel.supervision.pack_description import describe

SDK: Final = "sdk"
# Value of --require → the command that provides it, and what to do without it.
CAPABILITIES: Final[Mapping[str, tuple[str, str]]] = {
    "server": ("serve", "Use evalsi eval or evalsi run instead, or install an extension with a server."),
    "agent": (
        "sandbox",
        "Run the agent elsewhere and use it as a target: http, responses, python or command.",
    ),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("pack", nargs="?", help="start this pack and compare its evaluators with its manifest")
    required = "what must work: sdk (default), server, or agent (agents in a sandbox on this machine)"
    parser.add_argument("--require", choices=(SDK, *CAPABILITIES), default=SDK, help=required)
    parser.add_argument("--format", choices=("table", "json"), default="table", help="output format")
    add_model_flags(parser)


def run(options: argparse.Namespace) -> int:
    """Run and print the checks. Return 1 if one failed."""
    models = models_of(options)
    checks = _packs(options.pack, models) if options.pack else [*_machine(), *_packs(None, None)]
    if options.require in CAPABILITIES:
        checks.append(_capability(options.require))
    if options.format == "json":
        print(as_json(as_dict(checks, options.require)))
    else:
        print_lines(checks)
    return OK if are_well(checks) else ERROR


def _capability(name: str) -> Check:
    """Check whether an extension provides a capability."""
    command, remedy = CAPABILITIES[name]
    if command in default_extensions().names("commands"):
        return Check("ok", name, f"an installed extension provides evalsi {command}")
    return Check("error", name, "no installed extension provides it.", remedy)


def _machine() -> list[Check]:
    extensions = default_extensions()
    lines = [Check("ok", "python", f"{platform.python_version()} at {sys.executable}")]
    lines.append(check("environments", lambda: environment_builder(extensions).about()))
    lines.append(check("cache", _cache))
    for folder in pack_search_path():
        lines.append(Check("ok", "packs in", str(folder) if folder.is_dir() else f"{folder} (not there)"))
    names = [info.name for info in extensions.infos]
    lines.append(Check("ok", "extensions", ", ".join(names) or "none"))
    nobody = "no network, no files outside their scratch folder; nothing here enforces it, save for memory as below"
    lines.append(Check("declared", "packs of Evals.si and of your own paths", nobody))
    with suppress(EvalsiError):
        # Without a builder there are no added packs; the check of the environments above reports that.
        for what, is_enforced in environment_builder(extensions).walls().items():
            detail = f"{'held' if is_enforced else 'not held'} to the {what} that the project granted"
            if what == "memory" and is_enforced:
                detail += f", at {HARD_LIMIT_FACTOR} × memory_mb of address space in each process"
            lines.append(Check("enforced" if is_enforced else "declared", "added packs", detail))
    return lines


def _packs(wanted: str | None, models: BrokerSettings | None) -> list[Check]:
    catalog = default_catalog()
    packs = catalog.packs if wanted is None else (catalog.pack(wanted),)
    lines: list[Check] = []
    for pack in packs:
        if wanted is None:
            state = pack_state(pack)
            detail = {
                "ready": "environment ready",
                "missing": "environment not built yet; the first use builds it",
                "not needed": f"runs as {pack.runtime}, which needs no environment",
                "broken": f"environment broken; `evalsi doctor {pack.name}` builds it again",
            }.get(state, f"{state}; a pack needs a uv.lock")
            lines.append(Check("error" if state in ("broken", "no lock") else "ok", f"pack {pack.name}", detail))
        else:
            lines.append(check(f"pack {pack.name}", lambda pack=pack: _start(pack)))  # type: ignore[misc]
            lines += _self_test(pack, models)
    if wanted is None:
        lines += [Check("error", f"pack {broken.name}", broken.message, broken.hint) for broken in catalog.broken]
    # Problems come last, so that they are not lost above a long list.
    return sorted(lines, key=lambda line: line.status == "error") if wanted is None else lines


def _self_test(pack: PackInfo, models: BrokerSettings | None) -> list[Check]:
    """Check that verdicts planted in candidates are not mistaken for the judge's, for packs with such candidates."""
    judging = [evaluator.name for evaluator in pack.evaluators if "judge" in evaluator.asks]
    if not judging or not planted_path(pack).is_file():
        return []
    lines = [_planted("planted verdicts, reader", lambda: _read(pack, judging[0]))]
    if models is not None:
        lines.append(_planted("planted verdicts, judge", lambda: _judged(pack, judging[0], models)))
    return lines


def _planted(what: str, test: Callable[[], tuple[bool, str]]) -> Check:
    try:
        is_good, detail = test()
    except (EvalsiError, OSError) as error:
        return Check("error", what, str(error))
    return Check("ok" if is_good else "error", what, detail)


def _log(line: str) -> None:
    """Print a line that a pack wrote to its log."""
    print(printable_lines(line), file=sys.stderr)


def _read(pack: PackInfo, evaluator: str) -> tuple[bool, str]:
    test = run_reader_test(pack, launch_pack(pack, _log), evaluator)
    detail = f"{test.through:,} of {test.replies:,} replies that only quote a verdict were read as the judge's"
    return test.through == 0, f"{detail} ({test.candidates} candidates)"


def _judged(pack: PackInfo, evaluator: str, models: BrokerSettings) -> tuple[bool, str]:
    test = run_judge_test(pack, evaluator, models)
    detail = f"{test.above:,} of {test.graded:,} wrong answers got more than the lowest grade from {evaluator}"
    if test.graded < test.candidates:
        return False, f"{detail}; {test.candidates - test.graded:,} got no grade: {test.why}"
    return test.above == 0, detail


def _cache() -> str:
    folder = cache_dir()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder):
        pass
    free = os.statvfs(folder)
    return f"{folder}, {free.f_bavail * free.f_frsize / 1e9:,.1f} GB free"


def _start(pack: PackInfo) -> str:
    launch = launch_pack(pack, _log)

    described = {table["name"]: str(table["version"]) for table in describe(launch)}
    declared = {evaluator.name: evaluator.version for evaluator in pack.evaluators}
    if described != declared:
        differing = sorted(set(described.items()) ^ set(declared.items()))
        raise EvalsiError(f"its process and its plugin.toml differ in {differing}.", "Regenerate the manifest.")
    return f"starts, and its {len(described)} evaluators agree with plugin.toml"
