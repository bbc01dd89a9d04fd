"""`evalsi catalog`: every evaluator there is, with what it needs, gives and takes. No pack is started.

It must not know how packs are found.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from evalsi_cli.faults import OK
from evalsi_cli.terminal import as_json, paint
from evalsi_kernel.catalog import Catalog, default_catalog
from evalsi_kernel.environments import pack_state
from evalsi_kernel.pack_info import PYTHON, EvaluatorInfo, OutputInfo, PackInfo


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("--pack", metavar="NAME", help="only this pack")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print it")


def run(options: argparse.Namespace) -> int:
    """Print the catalog; broken packs and what hides what go to stderr."""
    catalog = default_catalog()
    packs = catalog.packs if options.pack is None else (catalog.pack(options.pack),)
    if options.format == "json":
        print(as_json({"packs": [pack_json(pack) for pack in packs]}))
    else:
        print("\n\n".join("\n".join(pack_lines(pack)) for pack in packs))
    _warn(catalog)
    return OK


def pack_json(pack: PackInfo) -> dict[str, Any]:
    """A pack with its evaluators, as JSON."""
    return {
        "name": pack.name,
        "version": pack.version,
        "summary": pack.summary,
        "runtime": pack.runtime,
        "environment": pack_state(pack),
        "evaluators": [evaluator.to_dict() | {"ref": evaluator.ref} for evaluator in pack.evaluators],
    }


def pack_lines(pack: PackInfo) -> Iterable[str]:
    """A pack with its evaluators, as text."""
    state: str = pack_state(pack)
    if pack.runtime != PYTHON:
        state = f"runs in {pack.runtime}"
    yield f"{paint(pack.name, 'bold', sys.stdout)} {pack.version} ({state}): {pack.summary}"
    for evaluator in pack.evaluators:
        yield f"  {evaluator.name}@{evaluator.version}  {evaluator.summary}"
        if evaluator.needs:
            yield f"      needs: {', '.join(evaluator.needs)}"
        if evaluator.outputs:
            yield f"      gives: {', '.join(_output(output, evaluator) for output in evaluator.outputs)}"
        params = list(_params(evaluator.params))
        if params:
            yield f"      params: {', '.join(params)}"


def _output(output: OutputInfo, evaluator: EvaluatorInfo) -> str:
    name = output.name or evaluator.name
    if output.kind != "number":
        return f"{name} ({output.kind})"
    low = "" if output.minimum is None else f"{output.minimum:g}"
    high = "" if output.maximum is None else f"{output.maximum:g}"
    span = f"{low}…{high}" if low or high else "number"
    return f"{name} ({' '.join(part for part in (span, output.unit) if part)})"


def _params(schema: Mapping[str, Any]) -> Iterable[str]:
    required = schema.get("required", ())
    for name, param in schema.get("properties", {}).items():
        if "default" in param:
            yield f"{name}={json.dumps(param['default'], ensure_ascii=False)}"
        else:
            yield name if name in required else f"{name}=none"


def _warn(catalog: Catalog) -> None:
    for warning in catalog.warnings:
        print(f"{paint('note:', 'yellow', sys.stderr)} {warning}", file=sys.stderr)
    for broken in catalog.broken:
        print(f"{paint('note:', 'yellow', sys.stderr)} {broken.error()}", file=sys.stderr)
