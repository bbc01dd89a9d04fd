"""`evalsi plugins attach` and `evalsi plugins serve`: add a pack that runs as a service, or run a pack as one."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import ConfigError, UsageError
from evalsi_kernel.files.paths import is_project_pack
from evalsi_kernel.packs.catalog import MANIFEST, default_catalog
from evalsi_kernel.packs.manifests import load_manifest
from evalsi_kernel.planning.launches import launch_pack, launch_unrestricted
from evalsi_kernel.results.grid import printable_lines
from evalsi_kernel.supervision.event_loop import run_in_loop
from evalsi_kernel.supervision.launch import Launch
from evalsi_kernel.supervision.pack_log import PackLog

from .addresses import FORMS, TLS, read_address
from .attaching import CA, CERT, FILES, GIVEN_MANIFEST, KEY, ORIGIN, SERVER_NAME
from .pack_actions import add_one, add_rules
from .pack_sources import Source
from .service_file import Tls
from .serving import ServiceOptions, Serving

AddParser = Callable[[str, str], argparse.ArgumentParser]
SESSIONS, GRACE_S = 16, 30.0


def configure(add_parser: AddParser) -> None:
    """Add the actions and their flags."""
    attaching = add_parser("attach", "add a pack that runs as a service, and record it in evalsi.lock")
    attaching.add_argument("address", metavar="ADDRESS", help=FORMS)
    attaching.add_argument("--ca", metavar="FILE", help="certificates that may have signed the service's (PEM)")
    attaching.add_argument("--cert", metavar="FILE", help="certificate to show to a service that asks for one (PEM)")
    attaching.add_argument("--key", metavar="FILE", help="its key; not copied")
    attaching.add_argument("--server-name", metavar="NAME", help="for which the service's certificate is made out")
    attaching.add_argument(
        "--manifest", metavar="FILE", help="plugin.toml of the pack; else one is written from what it says of itself"
    )
    add_rules(attaching)
    serving = add_parser("serve", "serve a pack to kernels elsewhere, a process for each connection")
    serving.add_argument("pack", metavar="PACK", help="its name, or its folder")
    serving.add_argument("--listen", metavar="ADDRESS", required=True, help=FORMS)
    serving.add_argument("--tls-cert", metavar="FILE", type=Path, help="certificate of this service (PEM), for tls://")
    serving.add_argument("--tls-key", metavar="FILE", type=Path, help="its key")
    serving.add_argument(
        "--client-ca", metavar="FILE", type=Path, help="let in only who shows a certificate signed by one of these"
    )
    serving.add_argument(
        "--max-sessions", metavar="N", type=int, default=SESSIONS, help=f"connections at once (default {SESSIONS})"
    )
    serving.add_argument(
        "--warm", metavar="N", type=int, default=1, help="processes to start before anybody connects (default 1)"
    )
    serving.add_argument(
        "--grace",
        metavar="SECONDS",
        type=float,
        default=GRACE_S,
        help=f"how long open sessions may go on after SIGTERM (default {GRACE_S:g})",
    )
    serving.add_argument(
        "--log", metavar="FILE", type=Path, help="file to append what the pack's processes print to stderr to"
    )


def run_attach(options: argparse.Namespace, _: Toolkit) -> int:
    """Run `evalsi plugins attach`."""
    project = Path.cwd()
    address = read_address(options.address)
    given = {
        CA: options.ca,
        CERT: options.cert,
        KEY: options.key,
        SERVER_NAME: options.server_name,
        GIVEN_MANIFEST: options.manifest,
    }
    named = {key: value for key, value in given.items() if value is not None}
    if address.scheme != TLS and named.keys() - {GIVEN_MANIFEST}:
        flag = min(named.keys() - {GIVEN_MANIFEST}).replace("_", "-")
        raise UsageError(f"--{flag} is for tls://, and the address is {address}.", "Leave it out, or use tls://.")
    if KEY in named and CERT not in named:
        raise UsageError("--key without --cert is a key to nothing.", "Name the certificate too.")
    paths = {
        key: Path(os.path.relpath(os.path.abspath(os.path.expanduser(value)), project)).as_posix()
        for key, value in named.items()
        if key in FILES
    }
    return add_one(Source(ORIGIN, str(address), options={**named, **paths}), options)


def run_serve(options: argparse.Namespace, _: Toolkit) -> int:
    """Run `evalsi plugins serve`."""
    address = read_address(options.listen)
    if address.scheme == TLS and options.tls_cert is None:
        raise UsageError("tls:// needs a certificate.", "Name it with --tls-cert, and its key with --tls-key.")
    if address.scheme != TLS and (options.tls_cert or options.tls_key or options.client_ca):
        raise UsageError(f"Certificates are for tls://, and the address is {address}.", "Use tls://HOST:PORT.")
    if options.max_sessions < 1 or options.warm < 0 or options.grace < 0:
        raise UsageError("A number of sessions or processes is too small.", "--max-sessions from 1, the others from 0.")
    log = _log(options.log)
    launch = _launch(options.pack)._replace(log=log)
    how = ServiceOptions(
        address,
        Tls(options.client_ca, options.tls_cert, options.tls_key),
        options.max_sessions,
        min(options.warm, options.max_sessions),
        options.grace,
    )
    run_in_loop(lambda: Serving(launch, how, _note).run())
    return 0


ACTIONS: dict[str, Callable[[argparse.Namespace, Toolkit], int]] = {"attach": run_attach, "serve": run_serve}


def _log(path: Path | None) -> PackLog | None:
    """Return the log of a service; create its file now, so that an unwritable path is reported at the start."""
    if path is None:
        return None
    try:
        # Output of evaluators may contain data, so only this user may read it.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOCTTY, 0o600))
    except OSError as error:
        raise ConfigError(
            f"The log {path} cannot be written: {error.strerror or error}.", "Name another file with --log."
        ) from error
    return PackLog(path, rotates=True)


def _launch(word: str) -> Launch:
    """Return how to start the pack with this name or folder.

    A folder runs unrestricted, unless it belongs to the packs of a project.
    """
    folder = Path(word)
    if not folder.is_dir():
        return launch_pack(default_catalog().pack(word), _note)
    pack = load_manifest(folder / MANIFEST).to_pack(folder.resolve())
    if is_project_pack(pack.folder):
        return launch_pack(pack, _note)
    _note(f"note: {pack.name} is served from a folder of your own, so it may do what you may; add it for walls")
    return launch_unrestricted(pack, _note)


def _note(line: str) -> None:
    with suppress(OSError, ValueError):  # The sessions continue even if stderr is closed.
        print(printable_lines(line), file=sys.stderr, flush=True)
