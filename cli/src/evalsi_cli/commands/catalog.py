"""`evalsi catalog`: every evaluator there is, with what it needs, gives, takes and costs. No pack is started.

It must not know how packs are found.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from evalsi_cli.environment_states import environment_states
from evalsi_cli.faults import OK
from evalsi_cli.listing import Trust, Wanted, judge_calls, publisher_of, selected, trusts_of
from evalsi_cli.terminal import as_json, paint
from evalsi_kernel.catalog import Catalog, default_catalog
from evalsi_kernel.pack_info import PYTHON, EvaluatorInfo, OutputInfo, PackInfo

# `json.dumps` would make an encoder for each of a thousand defaults.
_AS_TEXT = json.JSONEncoder(ensure_ascii=False).encode


class Listed(NamedTuple):
    """A pack with those of its evaluators that are listed."""

    pack: PackInfo
    evaluators: tuple[EvaluatorInfo, ...]
    trust: Trust
    environment: str


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("words", nargs="*", metavar="WORD", help="only those with each word in a name or a summary")
    parser.add_argument("--pack", metavar="NAME", help="only this pack")
    parser.add_argument("--needs", metavar="FIELD", action="append", default=[], help="only those that need this field")
    asking = parser.add_mutually_exclusive_group()
    asking.add_argument("--judge", action="store_true", default=None, help="only those that ask a judge")
    asking.add_argument("--no-judge", dest="judge", action="store_false", help="only those that ask none")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print it")


def run(options: argparse.Namespace) -> int:
    """Print the catalog; broken packs and what hides what go to stderr."""
    catalog = default_catalog()
    packs = catalog.packs if options.pack is None else (catalog.pack(options.pack),)
    listed = listing(packs, Wanted(options.needs, options.judge, options.words))
    if options.format == "json":
        print(as_json({"packs": [pack_json(one) for one in listed]}))
    elif listed:
        print("\n\n".join("\n".join(pack_lines(one)) for one in listed))
    else:
        print("no evaluator is like that", file=sys.stderr)
    _warn(catalog)
    return OK


def listing(packs: Iterable[PackInfo], wanted: Wanted) -> list[Listed]:
    """The packs that have an evaluator that is wanted."""
    chosen = [(pack, found) for pack in packs if (found := selected(pack, wanted))]
    states = environment_states([pack for pack, _ in chosen])
    trusts = trusts_of(pack for pack, _ in chosen)
    return [
        Listed(pack, found, trusts[pack.folder], state) for (pack, found), state in zip(chosen, states, strict=True)
    ]


def pack_json(listed: Listed) -> dict[str, Any]:
    """A pack with its evaluators, as JSON."""
    pack = listed.pack
    return {
        "name": pack.name,
        "version": pack.version,
        "publisher": publisher_of(pack, listed.trust),
        "trust": listed.trust,
        "summary": pack.summary,
        "wraps": pack.wraps,
        "runtime": pack.runtime,
        "environment": listed.environment,
        "folder": str(pack.folder),
        "permissions": dict(pack.permissions),
        "evaluators": [
            one.to_dict() | {"ref": one.ref, "judge_calls": judge_calls(pack, one)} for one in listed.evaluators
        ],
    }


def pack_lines(listed: Listed) -> Iterator[str]:
    """A pack with its evaluators, as text."""
    pack = listed.pack
    state = listed.environment if pack.runtime == PYTHON else f"runs in {pack.runtime}"
    publisher = publisher_of(pack, listed.trust)
    whose = f"{listed.trust}, by {publisher}" if publisher else listed.trust
    yield f"{paint(pack.name, 'bold', sys.stdout)} {pack.version} ({whose}; {state}): {pack.summary}"
    for evaluator in listed.evaluators:
        yield f"  {evaluator.name}@{evaluator.version}  {evaluator.summary}"
        if evaluator.needs:
            yield f"      needs: {', '.join(evaluator.needs)}"
        if evaluator.asks:
            yield f"      asks: {_asks(pack, evaluator)}"
        if evaluator.outputs:
            yield f"      gives: {', '.join(_output(output, evaluator) for output in evaluator.outputs)}"
        params = list(_params(evaluator.params))
        if params:
            yield f"      params: {', '.join(params)}"


def _asks(pack: PackInfo, evaluator: EvaluatorInfo) -> str:
    calls = judge_calls(pack, evaluator)
    asks = ", ".join(evaluator.asks)
    if calls == 0:
        return asks
    return f"{asks} (any number of questions a record)" if calls is None else f"{asks} (at most {calls} a record)"


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
            yield f"{name}={_AS_TEXT(param['default'])}"
        else:
            yield name if name in required else f"{name}=none"


def _warn(catalog: Catalog) -> None:
    for warning in catalog.warnings:
        print(f"{paint('note:', 'yellow', sys.stderr)} {warning}", file=sys.stderr)
    for broken in catalog.broken:
        print(f"{paint('note:', 'yellow', sys.stderr)} {broken.error()}", file=sys.stderr)
