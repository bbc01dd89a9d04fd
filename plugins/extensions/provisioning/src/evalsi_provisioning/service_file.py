"""Read and write `service.toml`, the address and TLS settings of an attached pack, next to its manifest."""

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
    """TLS settings of one side of a connection.

    Args:
        ca: PEM file of the certificates to trust; None means the system's.
        cert: PEM file of this side's certificate; None to send none.
        key: PEM file of the private key of `cert`.
        server_name: name expected in the service's certificate; "" means the host of the address.
    """

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    server_name: str = ""


class Service(NamedTuple):
    """Address and TLS settings of a service."""

    address: Address
    tls: Tls = Tls()


def write_service(folder: Path, address: Address, options: Mapping[str, str]) -> None:
    """Write `service.toml` into `folder`; it refers to a `ca.pem` in the same folder, if there is one."""
    table = {"address": str(address)} | {key: options[key] for key in ("cert", "key", "server_name") if key in options}
    if (folder / CA_FILE).is_file():
        table["ca"] = CA_FILE
    (folder / FILE).write_bytes(tomli_w.dumps(table).encode())


def read_service(pack: PackInfo) -> Service:
    """Read the `service.toml` of a pack; `cert` and `key` are relative to the project's folder.

    Raises:
        PackError: `pack.manifest`; the file cannot be read or is invalid.
    """
    path = pack.folder / FILE
    # While a pack is being added, its folder is one level deeper.
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
