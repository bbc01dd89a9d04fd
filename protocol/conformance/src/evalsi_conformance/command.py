"""`evalsi-conformance DIR [-- COMMAND …]`: run the kit for a pack in any language."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from evalsi_conformance.bench import Settings
from evalsi_conformance.findings import LEVELS, as_json, as_text
from evalsi_conformance.kit import Released, Unusable, check_pack
from evalsi_conformance.manifest import read_manifest
from evalsi_conformance.pack_process import CannotStart, Program
from evalsi_conformance.released import BadWheel, lay_out_wheel
from evalsi_conformance.starting import program_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a pack. Return 0 if it conforms, else 1."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    argv = words[words.index("--") + 1 :] if "--" in words else []
    options = _parser().parse_args(words[: words.index("--")] if "--" in words else words)
    program = _program(argv, options.folder) if argv else None
    settings = Settings(options.timeout_s, builtin=options.builtin)
    with tempfile.TemporaryDirectory(prefix="evalsi-released-") as scratch:
        try:
            against = _released(options.against, Path(scratch), argv) if options.against else None
            report = check_pack(options.folder, program, level=options.level, against=against, settings=settings)
        except (BadWheel, CannotStart, Unusable) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    print(as_json(report) if options.format == "json" else as_text(report))
    return 0 if report.conforms else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evalsi-conformance",
        description="Start a pack, talk to it offline with a scripted judge, and say what it keeps and what it breaks.",
        epilog="After -- stands the command of the pack's process; {folder} in it is the pack's folder. "
        "Without one a Python pack is served by this Python's SDK, and a program started as its manifest says.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the pack's folder, where its plugin.toml lies")
    parser.add_argument("--level", choices=LEVELS[:3], default="trustworthy", help="the last level to check")
    parser.add_argument("--against", type=Path, metavar="DIR|WHEEL", help="the released pack, for the level stable")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print the report")
    parser.add_argument("--timeout-s", type=float, default=0.0, metavar="S", help="how long an answer may take")
    parser.add_argument("--builtin", action="store_true", help="the pack is one of Evals.si's own, with a plain name")
    return parser


def _released(where: Path, scratch: Path, argv: Sequence[str]) -> Released:
    folder = where if where.is_dir() else lay_out_wheel(where, scratch)
    if argv:
        return Released(folder, _program(argv, folder))
    manifest, _ = read_manifest(folder, builtin=True)
    return Released(folder, program_of(folder, manifest))


def _program(argv: Sequence[str], folder: Path) -> Program:
    return Program(tuple(word.replace("{folder}", str(folder.resolve())) for word in argv))


if __name__ == "__main__":
    raise SystemExit(main())
