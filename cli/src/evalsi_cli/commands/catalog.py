"""`evalsi catalog`: every evaluator there is, with what it needs, gives, takes and costs. No pack is started.

It must not know how packs are found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from evalsi_cli import pack_json, pack_text
from evalsi_cli.environment_states import environment_states
from evalsi_cli.faults import OK
from evalsi_cli.listing import Trust, Wanted, check_needs, selected, trusts_of
from evalsi_cli.pack_json import PackJson, json_of, listing_json
from evalsi_cli.pack_text import PackText, text_of
from evalsi_cli.terminal import broken_at, columns, paint
from evalsi_cli.whole_listing import whole_listing
from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.packs.catalog import Catalog, default_catalog
from evalsi_kernel.packs.pack_info import EvaluatorInfo, PackInfo

if TYPE_CHECKING:
    from evalsi_kernel.planning.environments import EnvironmentState

_Told = TypeVar("_Told", bound=NamedTuple)


class Listed(NamedTuple):
    """A pack with those of its evaluators that are listed."""

    pack: PackInfo
    evaluators: tuple[EvaluatorInfo, ...]
    trust: Trust


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
    wanted = Wanted(options.needs, options.judge, options.words)
    check_needs(wanted.needs)
    if options.format == "json":
        packs, catalog = _chosen(options.pack, wanted, pack_json, PackJson, json_of)
        print(listing_json(packs, environment_states(packs)))
    else:
        texts, catalog = _chosen(options.pack, wanted, pack_text, PackText, text_of)
        if texts:
            states, width = environment_states(texts), columns(sys.stdout)
            print("\n\n".join(shown(text, state, width) for text, state in zip(texts, states, strict=True)))
        else:
            _say_nothing_fits(catalog, wanted)
    _warn(catalog)
    return OK


def _chosen(
    name: str | None,
    wanted: Wanted,
    module: ModuleType,
    kind: type[_Told],
    told: Callable[[PackInfo, Iterable[EvaluatorInfo], Trust], _Told],
) -> tuple[list[_Told], Catalog]:
    """What the wanted packs read as, and a catalog for what else is to be told."""
    if name is None and wanted.is_all:
        return whole_listing(module, kind, told)
    catalog = default_catalog()
    packs = catalog.packs if name is None else (catalog.pack(name),)
    return [told(*one) for one in listing(packs, wanted)], catalog


def _say_nothing_fits(catalog: Catalog, wanted: Wanted) -> None:
    needs = sorted({need for pack in catalog.packs for one in pack.evaluators for need in one.needs})
    # Whoever names a key of metadata means that very key; those of usage have fixed names.
    hints = [did_you_mean(one, needs) for one in wanted.needs if one.startswith("usage.") and one not in needs]
    print(" ".join(filter(None, ["no evaluator is like that" + "." * any(hints), *hints])), file=sys.stderr)


def listing(packs: Iterable[PackInfo], wanted: Wanted) -> list[Listed]:
    """The packs that have an evaluator that is wanted."""
    chosen = [(pack, found) for pack in packs if (found := selected(pack, wanted))]
    trusts = trusts_of(pack for pack, _ in chosen)
    return [Listed(pack, found, trusts[pack.folder]) for pack, found in chosen]


def shown(text: PackText, environment: EnvironmentState, width: int = 0) -> str:
    """A pack's text with the state of its environment, the name in bold where that can be seen, in lines that fit."""
    lines = broken_at(f"{text.name}{text.header(environment)}\n{text.evaluators}", width, 6)
    return paint(text.name, "bold", sys.stdout) + lines[len(text.name) :]


def _warn(catalog: Catalog) -> None:
    for sentence in (*catalog.warnings, *(broken.error() for broken in catalog.broken)):
        print(f"{paint('note:', 'yellow', sys.stderr)} {sentence}", file=sys.stderr)
