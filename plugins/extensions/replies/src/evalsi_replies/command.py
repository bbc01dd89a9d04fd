"""`evalsi cache`: what the cache of model replies holds, what to remove from it, and why an ask hits or misses.

It turns flags into bounds and keys, and what is found into text or JSON; it must not know SQLite.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import ConfigError, UsageError
from evalsi_kernel.results.grid import Grid, printable, text_grid

from .asked import Asked, asked_in_file, asked_in_results
from .cache_repair import set_aside_before
from .cache_store import default_cache_path
from .contents import ModelShare, contents, size_on_disk
from .explain import Entry, entries_under, nearest_entry
from .measures import moment_text, parse_size_bytes, parse_span_s, size_text
from .opening import is_there, opened
from .prune import Bounds, prune, would_prune

OK = 0


class Cache:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the subcommands and their flags."""
        actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
        summary = "show what is kept"
        stats = actions.add_parser("stats", help=summary, description=f"{summary.capitalize()}.")
        stats.add_argument("--format", choices=("table", "json"), default="table", help="how to print it")

        summary = "remove replies and free their room"
        pruning = actions.add_parser("prune", help=summary, description=f"{summary.capitalize()}.")
        pruning.add_argument("--older-than", metavar="SPAN", help="what was not used for so long: 12h, 30d, 2w")
        pruning.add_argument(
            "--max-size", metavar="SIZE", help="the least recently used, until the file is no larger: 500MB"
        )
        pruning.add_argument(
            "--model", metavar="NAME", help="this model's replies; with --older-than, the old ones of them"
        )
        pruning.add_argument("--all", action="store_true", help="everything")
        pruning.add_argument("--dry-run", action="store_true", help="say what would go, and remove nothing")

        summary = "say whether an ask would be answered from the cache, and if not, why"
        explain = actions.add_parser("explain", help=summary, description=f"{summary.capitalize()}.")
        explain.add_argument("key", nargs="?", metavar="KEY", help="a reply's key, or how it begins")
        explain.add_argument("--results", type=Path, metavar="FILE", help="take the keys from a results.json")
        explain.add_argument("--record", metavar="ID", help="of this record, with --results")
        explain.add_argument("--evaluator", metavar="NAME", help="of this evaluator, with --results (all that asked)")
        explain.add_argument("--ask", type=Path, metavar="FILE", help="take an ask from a JSON file")

    def run(self, options: argparse.Namespace) -> int:
        """Do it; raises `UsageError` without an action, and `CacheError` when the file cannot be used."""
        if options.action is None:
            raise UsageError("`evalsi cache` needs to know what to do.", "Give stats, prune or explain.")
        actions: dict[str, Callable[[argparse.Namespace, Path], Iterator[str]]] = {
            "stats": self._stats,
            "prune": _prune,
            "explain": _explain,
        }
        for line in actions[options.action](options, default_cache_path()):
            print(line)
        return OK

    def _stats(self, options: argparse.Namespace, path: Path) -> Iterator[str]:
        shares: list[ModelShare] = []
        if is_there(path):
            with opened(path) as connection:
                shares = list(contents(connection))
        aside = set_aside_before(path)
        if options.format == "json":
            yield self._toolkit.as_json(_stats_json(path, shares, aside))
            return
        yield f"{printable(str(path))}{'' if is_there(path) else ' (not there yet)'}"
        yield f"{_count(sum(share.entries for share in shares))} · {size_text(size_on_disk(path))} on disk"
        if shares:
            yield ""
            yield _table(shares)
        for one in aside:
            yield f"damaged, set aside: {printable(str(one))}, {size_text(one.stat().st_size)}"


def _stats_json(path: Path, shares: list[ModelShare], aside: list[Path]) -> dict[str, Any]:
    return {
        "file": str(path),
        "entries": sum(share.entries for share in shares),
        "size_bytes": size_on_disk(path),
        "oldest": _iso(min((share.oldest_s for share in shares), default=None)),
        "newest": _iso(max((share.newest_s for share in shares), default=None)),
        # Not counted, so not known.
        "hits": None,
        "models": [
            {
                "model": share.model,
                "entries": share.entries,
                "size_bytes": share.size_bytes,
                "oldest": _iso(share.oldest_s),
                "newest": _iso(share.newest_s),
                "last_used": _iso(share.used_s),
            }
            for share in shares
        ],
        "set_aside": [str(one) for one in aside],
    }


def _table(shares: list[ModelShare]) -> str:
    rows = []
    for share in shares:
        moments = (moment_text(share.oldest_s), moment_text(share.newest_s), moment_text(share.used_s))
        rows.append((share.model or "-", f"{share.entries:,}", size_text(share.size_bytes), *moments))
    return text_grid(Grid(("model", "replies", "size", "oldest", "newest", "last used"), rows, right=(1, 2)))


def _prune(options: argparse.Namespace, path: Path) -> Iterator[str]:
    bounds = prune_bounds(options)
    if not is_there(path):
        yield f"There is nothing to remove: {printable(str(path))} is not there yet."
        return
    with opened(path) as connection:
        shares = list(contents(connection))
        entries = sum(share.entries for share in shares)
        models = [share.model for share in shares]
        if bounds.model is not None and bounds.model not in models:
            raise ConfigError(f"No reply of the model {bounds.model!r} is kept.", choose(bounds.model, models))
        before = size_on_disk(path)
        if options.dry_run:
            yield f"would remove {would_prune(connection, bounds):,} of {_count(entries)}; {size_text(before)} on disk"
            return
        removed = prune(connection, bounds)
        after = size_on_disk(path)
    yield f"removed {removed:,} of {_count(entries)}; {size_text(before)} on disk before, {size_text(after)} now"


def prune_bounds(options: argparse.Namespace) -> Bounds:
    """The bounds that the flags name; raises `UsageError` for none, or for two that contradict each other."""
    bounds = Bounds(
        None if options.older_than is None else parse_span_s("--older-than", options.older_than),
        None if options.max_size is None else parse_size_bytes("--max-size", options.max_size),
        options.model,
        options.all,
    )
    if bounds == Bounds():
        raise UsageError(
            "`evalsi cache prune` needs to know what to remove.",
            "Give --older-than 30d, --max-size 500MB, --model NAME or --all.",
        )
    if bounds.everything and bounds != Bounds(everything=True):
        raise UsageError("--all removes everything, whatever the other flags say.", "Leave it or them out.")
    if bounds.model is not None and bounds.max_bytes is not None:
        raise UsageError("--max-size is of all models together.", "Give --model alone, or with --older-than.")
    return bounds


def _explain(options: argparse.Namespace, path: Path) -> Iterator[str]:
    asked = wanted_keys(options)
    if not is_there(path):
        yield f"miss: no reply is kept yet; {printable(str(path))} is not there."
        return
    with opened(path) as connection:
        for one in asked:
            found = entries_under(connection, one.digest)
            if len(found) == 1:
                yield f"hit: {found[0].digest}"
                yield f"  {_described(found[0])}"
            elif found:
                raise ConfigError(
                    f"Several keys begin with {one.digest!r}: {', '.join(entry.digest for entry in found)}.",
                    "Give more digits.",
                )
            else:
                yield f"miss: {one.digest}"
                if not one.fields:
                    yield "  Nothing tells what was asked; with --ask or --results, the nearest reply is named."
                elif (nearest := nearest_entry(connection, one.fields)) is None:
                    yield "  No reply is kept at all."
                else:
                    yield f"  nearest: {nearest.entry.digest}"
                    yield f"  {_described(nearest.entry)}"
                    yield f"  differs in: {', '.join(map(printable, nearest.differs_in)) or 'nothing'}"


def wanted_keys(options: argparse.Namespace) -> list[Asked]:
    """The keys that the flags name; raises `UsageError` unless they name them in one way, `ConfigError` for a file."""
    if sum(way is not None for way in (options.key, options.results, options.ask)) != 1:
        raise UsageError(
            "`evalsi cache explain` needs to know which ask.",
            "Give one of: KEY, --ask FILE, or --results FILE with --record ID.",
        )
    if (options.results is None) != (options.record is None) or (options.evaluator and options.results is None):
        raise UsageError("--results, --record and --evaluator go together.", "Give --results FILE and --record ID.")
    if options.results is not None:
        return asked_in_results(options.results, options.record, options.evaluator)
    if options.ask is not None:
        return [asked_in_file(options.ask)]
    digits = options.key.strip().lower()
    if not digits or set(digits) - set("0123456789abcdef"):
        raise UsageError(f"A key consists of hexadecimal digits; {options.key!r} does not.", "Give some of a key's.")
    return [Asked(digits, {})]


def _described(entry: Entry) -> str:
    model = f"{printable(entry.model)}, " if entry.model else ""
    used = f"last used {moment_text(entry.used_s)}"
    return f"{model}kept {moment_text(entry.created_s)}, {used}, {size_text(entry.size_bytes)}"


def _count(entries: int) -> str:
    return f"{entries:,} {'reply' if entries == 1 else 'replies'}"


def _iso(moment_s: int | None) -> str | None:
    return None if moment_s is None else datetime.fromtimestamp(moment_s, UTC).isoformat()
