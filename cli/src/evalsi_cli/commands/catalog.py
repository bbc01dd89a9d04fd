"""`evalsi catalog`: list evaluators with their needs, outputs, params and judge calls, without starting packs."""

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

_Entry = TypeVar("_Entry", bound=NamedTuple)


class Listed(NamedTuple):
    """A pack with those of its evaluators that match."""

    pack: PackInfo
    evaluators: tuple[EvaluatorInfo, ...]
    trust: Trust


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("words", nargs="*", metavar="WORD", help="only those with all words in a name or a summary")
    parser.add_argument("--pack", metavar="NAME", help="only this pack")
    parser.add_argument("--needs", metavar="FIELD", action="append", default=[], help="only those that need this field")
    asking = parser.add_mutually_exclusive_group()
    asking.add_argument("--judge", action="store_true", default=None, help="only those that call a judge")
    asking.add_argument("--no-judge", dest="judge", action="store_false", help="only those that call no judge")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")


def run(options: argparse.Namespace) -> int:
    """Print the catalog. Broken and hidden packs are reported on stderr."""
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
            _report_no_match(catalog, wanted)
    _warn(catalog)
    return OK


def _chosen(
    name: str | None,
    wanted: Wanted,
    module: ModuleType,
    kind: type[_Entry],
    entry_of: Callable[[PackInfo, Iterable[EvaluatorInfo], Trust], _Entry],
) -> tuple[list[_Entry], Catalog]:
    """Return the entries of the matching packs, and a catalog with its warnings."""
    if name is None and wanted.is_all:
        return whole_listing(module, kind, entry_of)
    catalog = default_catalog()
    packs = catalog.packs if name is None else (catalog.pack(name),)
    return [entry_of(*one) for one in listing(packs, wanted)], catalog


def _report_no_match(catalog: Catalog, wanted: Wanted) -> None:
    needs = sorted({need for pack in catalog.packs for one in pack.evaluators for need in one.needs})
    # Keys of metadata are free, so only keys of usage, which are fixed, can be misspelled.
    hints = [did_you_mean(one, needs) for one in wanted.needs if one.startswith("usage.") and one not in needs]
    print(" ".join(filter(None, ["no evaluator matches" + "." * any(hints), *hints])), file=sys.stderr)


def listing(packs: Iterable[PackInfo], wanted: Wanted) -> list[Listed]:
    """Return the packs that have matching evaluators, with these."""
    chosen = [(pack, found) for pack in packs if (found := selected(pack, wanted))]
    trusts = trusts_of(pack for pack, _ in chosen)
    return [Listed(pack, found, trusts[pack.folder]) for pack, found in chosen]


def shown(text: PackText, environment: EnvironmentState, width: int = 0) -> str:
    """Return a pack's text with the state of its environment, wrapped to the width, its name bold on a terminal."""
    lines = broken_at(f"{text.name}{text.header(environment)}\n{text.evaluators}", width, 6)
    return paint(text.name, "bold", sys.stdout) + lines[len(text.name) :]


def _warn(catalog: Catalog) -> None:
    for sentence in (*catalog.warnings, *(broken.error() for broken in catalog.broken)):
        print(f"{paint('note:', 'yellow', sys.stderr)} {sentence}", file=sys.stderr)
