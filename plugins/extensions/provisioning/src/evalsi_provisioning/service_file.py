"""`service.toml`: how an attached pack is reached, beside the manifest that was written when it was attached.

It must not know how a connection is made.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import tomli_w

from evalsi_kernel.errors import PackError, UsageError
from evalsi_kernel.files.paths import PROJECT_PACKS
from evalsi_kernel.packs.pack_info import PackInfo

from .addresses import TLS, Address, read_address

FILE, CA_FILE = "service.toml", "ca.pem"
_PROJECTS = Path(PROJECT_PACKS).parts[0]


class Tls(NamedTuple):
    """How both sides know each other.

    Args:
        ca: certificates, in PEM, one of which has signed the service's; None takes those that this system trusts.
        cert: what this side shows, in PEM; None where the service asks for none.
        key: of `cert`.
        server_name: for which the service's certificate is made out; "" means the host of the address.
    """

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    server_name: str = ""


class Service(NamedTuple):
    """A pack that runs somewhere."""

    address: Address
    tls: Tls = Tls()


def write_service(folder: Path, address: Address, options: Mapping[str, str]) -> None:
    """Write the file; certificates that are trusted lie beside it as `ca.pem`."""
    table = {"address": str(address)} | {key: options[key] for key in ("cert", "key", "server_name") if key in options}
    if (folder / CA_FILE).is_file():
        table["ca"] = CA_FILE
    (folder / FILE).write_bytes(tomli_w.dumps(table).encode())


def read_service(pack: PackInfo) -> Service:
    """How a pack of the runtime `service` is reached; paths of `cert` and `key` hold from the project's folder.

    Raises:
        PackError: `pack.manifest`; the file cannot be read, or says what is no service.
    """
    path = pack.folder / FILE
    # While it is being added it lies a folder deeper.
    base = next((place.parent for place in pack.folder.parents if place.name == _PROJECTS), pack.folder)
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        strange = table.keys() - {"address", "ca", "cert", "key", "server_name"}
        if strange or not all(isinstance(value, str) for value in table.values()):
            raise ValueError(f"{min(strange, default='a value')} does not belong there")
        address = read_address(table.get("address", ""))
    except (OSError, ValueError, RecursionError, UsageError) as error:
        message = f"{path} does not say where the pack {pack.name} runs: {error}"
        raise PackError(message, "Attach it again: evalsi plugins attach.", code="pack.manifest") from error
    if address.scheme != TLS:
        return Service(address)
    ca, cert, key = (
        folder / table[word] if word in table else None
        for word, folder in (("ca", pack.folder), ("cert", base), ("key", base))
    )
    return Service(address, Tls(ca, cert, key, table.get("server_name", "")))
