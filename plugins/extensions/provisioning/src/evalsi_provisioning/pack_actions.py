"""`evalsi plugins add`, `update`, `remove`, `search` and `show`: parse flags, ask for grants, print results."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import EvalsiError, PackError, UsageError
from evalsi_kernel.packs.catalog import MANIFEST, Catalog, default_catalog
from evalsi_kernel.packs.manifests import PROTOCOL, load_manifest
from evalsi_kernel.packs.pack_info import PackInfo
from evalsi_kernel.planning.reattach import SERVICE
from evalsi_kernel.results.grid import printable, printable_lines

from .adding import Proposal, Rules, add, needs_grant, not_recorded, remove, signed_by
from .admission import differences
from .confinement import this_host
from .pack_index import find_listed, index_place, matching, order_of, read_index
from .pack_sources import Source, source_of
from .permissions import KINDS, permissions_of, shown
from .project_lock import NAME, Entry, pack_folder, read_project_lock

OK, ERROR = 0, 1
ALL = "all"
NEW_KEY = ", a key not seen before; compare it with what its publisher says"
ADD_ARGUMENT = "folders, archives, addresses, or names of the index; none with --locked: all of evalsi.lock"
AddParser = Callable[[str, str], argparse.ArgumentParser]


class Change(NamedTuple):
    """The user's choices for adding or updating packs."""

    place: str | None
    grant: tuple[str, ...] | None
    rules: Rules


def configure(add_parser: AddParser) -> None:
    """Add the actions and their flags."""
    adding = add_parser("add", "add packs to this project, show what they may do, and record them in evalsi.lock")
    installing = add_parser("install", "another name of add")
    for parser in (adding, installing):
        parser.add_argument("packs", nargs="*", metavar="PACK", help=ADD_ARGUMENT)
        parser.add_argument(
            "--locked", action="store_true", help="record nothing: stop where evalsi.lock says otherwise"
        )
    updating = add_parser("update", "take newer versions of packs of this project; all, or those named")
    updating.add_argument("packs", nargs="*", metavar="PACK", help="names of evalsi.lock, or what `add` takes")
    updating.add_argument("--allow-downgrade", action="store_true", help="an older version is meant")
    for parser in (adding, installing, updating):
        parser.add_argument(
            "--index", metavar="PLACE", help="index of packs, a path or an address (EVALSI_PLUGIN_INDEX)"
        )
        parser.add_argument(
            "--key", metavar="FINGERPRINT", type=_fingerprint, help="key that must have signed the releases"
        )
        add_rules(parser)
    removing = add_parser("remove", "take packs out of this project and out of evalsi.lock")
    removing.add_argument("packs", nargs="+", metavar="PACK", help="names of evalsi.lock")
    searching = add_parser("search", "find packs in an index by words of their names, summaries and evaluators")
    searching.add_argument("words", nargs="*", metavar="WORD", help="all of them must be there")
    showing = add_parser("show", "show what an index says of a pack: its evaluators and its versions")
    showing.add_argument("pack", metavar="PACK", help="its name, publisher/name")
    for parser in (searching, showing):
        parser.add_argument(
            "--index", metavar="PLACE", help="index of packs, a path or an address (EVALSI_PLUGIN_INDEX)"
        )
        parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print it")


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the flags `--grant` and `--no-start`."""
    parser.add_argument("--grant", metavar="KINDS", help=f"grant without asking: all, or of {', '.join(KINDS)}")
    parser.add_argument("--no-start", action="store_true", help="do not build and start it to see what it says")


def add_one(source: Source, options: argparse.Namespace) -> int:
    """Add the pack of a source, with the flags of `add_rules`, and return the exit code."""
    print(_add(source, Path.cwd(), Change(None, kinds(options.grant), Rules(start=not options.no_start))))
    return OK


def run_add(options: argparse.Namespace, _: Toolkit) -> int:
    """Run `evalsi plugins add`."""
    project = Path.cwd()
    rules = Rules(may_record=not options.locked, start=not options.no_start, key=options.key or "")
    change = Change(options.index, kinds(options.grant), rules)
    if options.locked and not options.packs:
        return _restore(project, change)
    if not options.packs:
        raise UsageError("evalsi plugins add needs a pack.", "Name one, or say --locked for all of evalsi.lock.")
    return _each(options.packs, lambda word: _add(source_of(word, project, change.place), project, change))


def run_update(options: argparse.Namespace, _: Toolkit) -> int:
    """Run `evalsi plugins update`."""
    project = Path.cwd()
    packs = read_project_lock(project).packs
    rules = Rules(
        False, may_change=True, may_downgrade=options.allow_downgrade, start=not options.no_start, key=options.key or ""
    )
    change = Change(options.index, kinds(options.grant), rules)

    def update(word: str) -> str:
        entry = packs.get(word)
        if entry is not None and entry.origin != "index":
            return _add(Source(entry.origin, entry.source, options=entry.options), project, change)
        source = source_of(word, project, change.place)
        if source.origin == "index" and source.name not in packs:
            raise not_recorded(source.name, packs, project)
        return _add(source, project, change)

    return _each(options.packs or list(packs), update)


def run_remove(options: argparse.Namespace, _: Toolkit) -> int:
    """Run `evalsi plugins remove`."""

    def take_away(name: str) -> str:
        remove(name, Path.cwd())
        return f"removed {name}; {NAME} has it no more"

    return _each(options.packs, take_away)


def run_search(options: argparse.Namespace, toolkit: Toolkit) -> int:
    """Run `evalsi plugins search`."""
    place = index_place(options.index)
    found = matching(read_index(place), options.words)
    if options.format == "json":
        print(toolkit.as_json([one.model_dump() for one in found]))
        return OK
    rows = [(one.name, max((r.version for r in one.versions), key=order_of), one.summary) for one in found]
    width = max((len(name) for name, *_ in rows), default=0)
    for name, version, summary in rows:
        print(printable(f"{name:<{width}}  {version:<8}  {summary}"))
    if not rows:
        print(f"nothing in {place} has all of these words", file=sys.stderr)
    return OK


def run_show(options: argparse.Namespace, toolkit: Toolkit) -> int:
    """Run `evalsi plugins show`."""
    place = index_place(options.index)
    listed = find_listed(read_index(place), place, options.pack)
    if options.format == "json":
        print(toolkit.as_json(listed.model_dump()))
        return OK
    newest = listed.newest()
    print(printable(f"{listed.name}  {listed.summary}".rstrip()))
    print(printable(f"evaluators: {', '.join(listed.evaluators) or 'it names none'}"))
    for one in sorted(listed.versions, key=lambda release: order_of(release.version), reverse=True):
        marks = ["newest"] if one is newest else []
        marks += ["taken back"] if one.yanked else []
        marks += [f"speaks protocol {one.protocol}, and this one {PROTOCOL}"] if one.protocol != PROTOCOL else []
        marks.append(signed_by(one.signature.fingerprint if one.signature else None))
        print(f"{one.version:<10}  sha256 {one.sha256}  {', '.join(marks)}".rstrip())
    return OK


ACTIONS: dict[str, Callable[[argparse.Namespace, Toolkit], int]] = {
    "add": run_add,
    "install": run_add,
    "show": run_show,
    "update": run_update,
    "remove": run_remove,
    "search": run_search,
}


def _add(source: Source, project: Path, change: Change) -> str:
    done = add(source, project, change.rules, partial(_settle, change=change, place=source.shown), _note)
    for sentence in shared_names(done.pack, default_catalog()):
        _note(f"note: {sentence}")
    if done.before is None:
        return f"added {done.pack.name} {done.pack.version}; {NAME} records it"
    if not done.differences:
        return f"{done.pack.name} {done.pack.version} is as {NAME} says"
    before, now = done.before.version, done.pack.version
    how = f"{now}, changed" if before == now else f"from {before} to {now}"
    return f"updated {done.pack.name} {how}; {NAME} records it"


def shared_names(pack: PackInfo, catalog: Catalog) -> list[str]:
    """Return a sentence for each evaluator of the pack whose plain name is also in another pack.

    Adapters are only compared with adapters: a plain name shared with another pack never refers to an adapter's
    evaluator.
    """
    own = {one.name for one in pack.evaluators}
    sentences = []
    for other in catalog.packs:
        for name in sorted(own & {one.name for one in other.evaluators}):
            if other.name != pack.name and bool(other.wraps) == bool(pack.wraps):
                sentences.append(
                    f'"{name}" is an evaluator of {other.name} as well, so the plain name is no longer enough: '
                    f"write {other.name}/{name} or {pack.name}/{name}."
                )
    return sentences


def _restore(project: Path, change: Change) -> int:
    """Restore every pack of evalsi.lock exactly as recorded, and return the exit code."""
    return _each(read_project_lock(project).packs.items(), lambda one: _restored(one[0], one[1], project, change))


def _restored(name: str, entry: Entry, project: Path, change: Change) -> str:
    folder = pack_folder(project, name)
    if change.rules.key not in ("", entry.signer):
        raise PackError(
            f"{NAME} has {name} {entry.version} {signed_by(entry.signer)}, and --key names {change.rules.key}.",
            "Compare it with the fingerprint that its publisher gives.",
            code="pack.signature",
        )
    if (folder / MANIFEST).is_file():
        pack = load_manifest(folder / MANIFEST).to_pack(folder)
        if not list(differences(pack, entry)):
            return f"{name} {entry.version} is as {NAME} says"
    return _add(Source(entry.origin, entry.source, name=name, options=entry.options), project, change)


def _settle(proposal: Proposal, *, change: Change, place: str) -> None:
    """Show the pack's permissions and make sure that they are granted: by evalsi.lock, `--grant` or the user."""
    pack = proposal.pack
    for line in _lines(proposal, place or proposal.entry.source, change):
        print(printable_lines(line))
    needed = needs_grant(proposal)
    missing = [kind for kind in needed if kind not in (change.grant or ())]
    if not missing:
        return
    if change.grant is None and _is_terminal() and _says_yes(f"Grant {pack.name} {', '.join(missing)}?"):
        return
    raise PackError(
        f"The pack {pack.name} was not granted {', '.join(missing)}, so it is not added.",
        f"Look at what it asks for, then say --grant {','.join(needed)}",
        code="pack.permissions",
        missing=missing,
    )


def _lines(proposal: Proposal, place: str, change: Change) -> list[str]:
    pack = proposal.pack
    lines = [f"{pack.name} {pack.version} ({pack.summary})", f"  from {place}"]
    if pack.runtime != SERVICE:
        known = proposal.before.signer if proposal.before is not None else None
        signer = proposal.entry.signer
        is_new = signer not in (None, known, change.rules.key)
        lines.append(f"  {signed_by(signer)}{NEW_KEY if is_new else ''}")
    lines += [f"  {one.name}@{one.version}  {one.summary}" for one in pack.evaluators]
    lines += [f"  changed: {line}" for line in proposal.differences]
    rows = list(shown(permissions_of(pack), pack, this_host()))
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines += [f"  {kind:<{widths[0]}}  {what:<{widths[1]}}  {how}" for kind, what, how in rows]
    return [*lines, *(f"  {line}" for line in proposal.wider if proposal.before is not None)]


def kinds(text: str | None) -> tuple[str, ...] | None:
    """Return the kinds of permission in `--grant`; None if the flag is not given."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in (*KINDS, ALL):
            raise UsageError(f'--grant names "{word}", which is no kind of permission.', choose(word, (*KINDS, ALL)))
    return KINDS if ALL in words else tuple(words)


def _each(items: Any, do: Callable[[Any], str]) -> int:
    """Call `do` for each item and return the exit code.

    With several items, continue after a failure. The error of a single item is raised.
    """
    todo: Sequence[Any] = list(items)
    if len(todo) == 1:
        print(do(todo[0]))
        return OK
    code = OK
    for one in todo:
        try:
            print(do(one))
        except EvalsiError as error:
            code = ERROR
            print(f"{one if isinstance(one, str) else one[0]}: {error}", file=sys.stderr)
    if not todo:
        print(f"{NAME} has no pack", file=sys.stderr)
    return code


def _fingerprint(text: str) -> str:
    """Parse the fingerprint of a key from the command line."""
    if not re.fullmatch("[0-9a-f]{64}", text.lower()):
        raise argparse.ArgumentTypeError(f"{text!r} is no fingerprint of a key, which has 64 hex digits")
    return text.lower()


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _says_yes(question: str) -> bool:
    print(f"{printable_lines(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _note(line: str) -> None:
    print(printable_lines(line), file=sys.stderr, flush=True)
