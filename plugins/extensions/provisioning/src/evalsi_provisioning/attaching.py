"""Write the folder of a pack that runs as a service: a manifest from the service's description, and its address."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from evalsi_kernel.checking.toml_text import parse_toml
from evalsi_kernel.errors import PackError
from evalsi_kernel.packs.catalog import MANIFEST
from evalsi_kernel.planning.reattach import SERVICE
from evalsi_kernel.supervision.event_loop import run_in_loop
from evalsi_kernel.supervision.launch import Launch
from evalsi_kernel.supervision.worker import start_worker

from .addresses import read_address
from .service_file import CA_FILE, FILE, Service, Tls, write_service
from .service_runtime import connecting

ORIGIN = SERVICE
CA, CERT, KEY, SERVER_NAME, GIVEN_MANIFEST = "ca", "cert", "key", "server_name", "manifest"
FILES = (CA, CERT, KEY, GIVEN_MANIFEST)
_OF_AN_EVALUATOR = ("name", "version", "summary", "scope", "needs", "asks", "outputs", "params")


def write_attached(place: str, options: Mapping[str, str], project: Path, folder: Path) -> None:
    """Write the folder of a pack that runs at an address.

    Args:
        place: the address.
        options: any of `ca`, `cert`, `key`, `server_name` and `manifest`; paths are relative to the project's folder.
        project: the project's folder.
        folder: the folder to write to; must exist and be empty.

    Raises:
        PackError: `pack.source` if a given file is missing; `pack.manifest` if the given manifest cannot be read;
            another code if the service answers with an error.
        PackEnvironmentError: `environment.socket` if the service cannot be reached; `environment.certificate`.
    """
    address = read_address(place)
    named = {key: project / options[key] for key in FILES if key in options}
    for path in named.values():
        if not path.is_file():
            raise PackError(f"{path} is not there.", "Check the path.", code="pack.source")
    tls = Tls(named.get(CA), named.get(CERT), named.get(KEY), options.get(SERVER_NAME, ""))
    if GIVEN_MANIFEST in named:
        tables = _read(named[GIVEN_MANIFEST])
    else:
        tables = _asked(Launch(place, connect=connecting(Service(address, tls), "there")), place)
    tables["run"] = {**_kept(tables.get("run")), "runtime": SERVICE, "module": FILE}
    try:
        (folder / MANIFEST).write_bytes(tomli_w.dumps(tables).encode())
    except (TypeError, ValueError) as error:
        raise PackError(
            f"The service {place} says of itself what no plugin.toml can hold: {error}",
            "Give its manifest: --manifest plugin.toml.",
            code="pack.manifest",
        ) from error
    if CA in named:
        shutil.copyfile(named[CA], folder / CA_FILE)
    write_service(folder, address, options)


def _asked(launch: Launch, place: str) -> dict[str, Any]:
    """Return a manifest made from the service's answer to `describe`."""
    try:
        said = run_in_loop(lambda: _describe(launch))
    except PackError as error:
        # Replace the hint, which is meant for packs that run on this machine.
        hint = "See the log of the service, and whether it speaks the protocol of packs."
        raise PackError(error.message, hint, code=error.code) from error
    pack = said.get("pack")
    name, version = (str(pack.get(key, "")) for key in ("name", "version")) if isinstance(pack, dict) else ("", "")
    evaluators = said.get("evaluators")
    return {
        "manifest": 1,
        "name": name,
        "version": version,
        "summary": f"Runs as a service at {place}.",
        "protocol": 1,
        # One connection with many concurrent records; the publisher's manifest may override this.
        "run": {"workers": "wide"},
        "evaluators": [
            {key: _without_nulls(table[key]) for key in _OF_AN_EVALUATOR if table.get(key) is not None}
            for table in (evaluators if isinstance(evaluators, list) else ())
            if isinstance(table, dict)
        ],
    }


def _without_nulls(value: Any) -> Any:
    """Return the value without map entries that are None, which TOML cannot represent."""
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


async def _describe(launch: Launch) -> dict[str, Any]:
    worker = await start_worker(launch)
    try:
        return await worker.describe()
    finally:
        await worker.stop()


def _read(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PackError(f"{path} cannot be read: {error}.", "Name a plugin.toml.", code="pack.manifest") from error


def _kept(run: object) -> dict[str, Any]:
    """Return the `run` settings that also apply to a pack that runs elsewhere."""
    kept = ("workers", "record_timeout_s", "memory_mb")
    return {key: run[key] for key in kept if key in run} if isinstance(run, dict) else {}
