"""The index of packs: a static JSON file, local or at an address, that lists packs and where to get them.

Format: docs/reference/pack-index.md and pack-index.schema.json.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Annotated
from urllib.parse import urljoin

from packaging.version import InvalidVersion, Version
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.checking.toml_tables import Line
from evalsi_kernel.errors import ConfigError, PackError
from evalsi_kernel.packs.manifests import PROTOCOL
from evalsi_kernel.packs.refs import VERSION

from .downloads import fetch, is_url

VARIABLE = "EVALSI_PLUGIN_INDEX"
FORMAT = 1
MAX_BYTES = 8 * 1024 * 1024
_TOLD_AT_MOST = 10
# Names without a publisher are reserved for packs that come with Evals.si.
_PUBLISHED = r"^[a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9_-]*$"


def _is_none(value: object) -> bool:
    return value is None


class _Part(BaseModel):
    # Ignore unknown keys, which newer versions may add.
    model_config = ConfigDict(strict=True, extra="ignore")


class Signature(_Part):
    """A publisher's signature of a release: Ed25519 over its name, version and digest."""

    public_key: Annotated[
        str, Field(pattern="^[A-Za-z0-9+/]{43}=$", description="of the publisher, 32 bytes in base64")
    ]
    value: Annotated[str, Field(pattern="^[A-Za-z0-9+/]{86}==$", description="the signature, 64 bytes in base64")]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the public key, in hex; it identifies the key in evalsi.lock and for users."""
        return hashlib.sha256(base64.b64decode(self.public_key)).hexdigest()


class Release(_Part):
    """One version of a pack."""

    version: Annotated[str, Field(pattern=f"^{VERSION}$", description="as in its plugin.toml")]
    url: Annotated[
        str, Field(min_length=1, description="of its wheel or archive, absolute or from the index's own place")
    ]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="of that file, in hex")]
    protocol: Annotated[int, Field(description="the major of the protocol that it speaks")] = PROTOCOL
    yanked: Annotated[bool, Field(description="taken back: only those who name this very version get it")] = False
    signature: Annotated[
        Signature | None, Field(description="by its publisher; absent where it is unsigned", exclude_if=_is_none)
    ] = None


class Listed(_Part):
    """One pack."""

    name: Annotated[str, Field(pattern=_PUBLISHED, description="publisher/name")]
    summary: Annotated[Line, Field(description="one line for a person")] = ""
    evaluators: Annotated[list[Line], Field(description="their names, for a search")] = Field(default_factory=list)
    versions: Annotated[list[Release], Field(min_length=1, description="in any order")]

    def newest(self) -> Release | None:
        """Return the newest version that this kernel supports and that is not yanked; None if there is none."""
        usable = [one for one in self.versions if one.protocol == PROTOCOL and not one.yanked]
        return max(usable, key=lambda one: _rank(one.version), default=None)


class PackIndex(_Part):
    """The whole file."""

    index: Annotated[int, Field(description=f"the format of this file: {FORMAT}")]
    packs: Annotated[list[Listed], Field(description="each name once")]


def order_of(version: str) -> Version:
    """Parse a version, for ordering as in Python packaging; raises `pack.version` if it is invalid."""
    try:
        return Version(version)
    except InvalidVersion:
        raise PackError(
            f'"{version}" is no version that could be older or newer than another.',
            "Ask its publisher for one such as 1.2.0.",
            code="pack.version",
        ) from None


def _rank(version: str) -> tuple[bool, Version]:
    """Return the sort key of a version; pre-releases come before all other versions."""
    order = order_of(version)
    return not order.is_prerelease, order


def read_index(place: str) -> PackIndex:
    """Read the index at a path or an address.

    Raises:
        ConfigError: `config.index`; the index is too large, damaged, of a newer format, or lists a name twice.
        PackError: `pack.source`; the address cannot be reached.
    """
    if is_url(place):
        with tempfile.TemporaryDirectory(prefix="evalsi-index-") as folder:
            copy = Path(folder, "index.json")
            fetch(place, copy, max_bytes=MAX_BYTES)
            raw = copy.read_bytes()
    else:
        raw = _read(Path(place).expanduser())
    return _parsed(raw, place)


def index_place(named: str | None) -> str:
    """Return the place of the index: `named`, else the variable's value; raises `config.index` if neither is set."""
    place = named or os.environ.get(VARIABLE, "")
    if not place:
        raise ConfigError(
            "No index of packs is named, so a pack cannot be found by its name.",
            f"Name one with --index or {VARIABLE}, or give a path or an address; write ./NAME for a folder.",
            code="config.index",
        )
    return place


def find_listed(index: PackIndex, place: str, name: str) -> Listed:
    """Return the pack with this name; raises `config.unknown_pack` if the index does not list it."""
    listed = next((one for one in index.packs if one.name == name), None)
    if listed is None:
        hint = did_you_mean(name, [one.name for one in index.packs])
        raise _unknown(f"{place} lists no pack {name}.", hint or "Search it: evalsi plugins search WORD")
    return listed


def find_release(index: PackIndex, place: str, wanted: str) -> tuple[Listed, Release]:
    """Return the release for `name==version`, or the newest usable release for `name`.

    Raises:
        ConfigError: `config.unknown_pack`; the index has no such pack or version.
        PackError: `protocol.version`; the release, or every release, is for another major version of the protocol.
    """
    name, _, version = (part.strip() for part in wanted.partition("=="))
    listed = find_listed(index, place, name)
    if version:
        exact = next((one for one in listed.versions if one.version == version), None)
        if exact is None:
            there = ", ".join(one.version for one in listed.versions)
            raise _unknown(f"{place} lists no version {version} of {name}.", f"It has {there}.")
        return listed, _speakable(exact, name)
    newest = listed.newest()
    if newest is None:
        usable = [one for one in listed.versions if not one.yanked]
        if not usable:
            raise _unknown(f"Every version of {name} was taken back.", f"Name one to have it: {name}==VERSION")
        newest = _speakable(max(usable, key=lambda one: order_of(one.version)), name)
    return listed, newest


def address_of(release: Release, place: str) -> str:
    """Return the place of a release: its `url`, resolved against the place of the index."""
    if is_url(release.url):
        return release.url
    return urljoin(place, release.url) if is_url(place) else str(Path(place).expanduser().parent / release.url)


def matching(index: PackIndex, words: list[str]) -> list[Listed]:
    """Return the packs whose name, summary or evaluator names contain every word, ignoring case."""
    return [one for one in index.packs if all(word.lower() in _text(one) for word in words)]


def _text(listed: Listed) -> str:
    return " ".join([listed.name, listed.summary, *listed.evaluators]).lower()


def _speakable(release: Release, name: str) -> Release:
    if release.protocol == PROTOCOL:
        return release
    hint = "Upgrade Evals.si." if release.protocol > PROTOCOL else "Ask its publisher for a newer version."
    raise PackError(
        f"{name} {release.version} speaks protocol {release.protocol}, and this version of Evals.si {PROTOCOL}.",
        hint,
        code="protocol.version",
    )


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise PackError(
            f"The index {path} cannot be read: {error.strerror or error}.", "Check the path.", code="pack.source"
        ) from error


def _parsed(raw: bytes, place: str) -> PackIndex:
    if len(raw) > MAX_BYTES:
        raise _fault(place, f"is larger than {MAX_BYTES // 1_000_000} MB")
    try:
        tables = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _fault(place, f"is no JSON: {error}") from error
    number = tables.get("index") if isinstance(tables, dict) else None
    if type(number) is int and number > FORMAT:
        raise _fault(place, f"is of format {number}, and this version of Evals.si knows {FORMAT}", "Upgrade Evals.si.")
    try:
        index = PackIndex.model_validate(tables)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in error.errors()]
        more = f" and {len(problems) - _TOLD_AT_MOST:,} more" if len(problems) > _TOLD_AT_MOST else ""
        raise _fault(place, f"does not fit: {'; '.join(problems[:_TOLD_AT_MOST])}{more}") from error
    counts = Counter(one.name for one in index.packs)
    if twice := sorted(name for name, count in counts.items() if count > 1):
        raise _fault(place, f"lists {', '.join(twice)} more than once")
    return index


def _fault(place: str, why: str, hint: str = "Tell whoever keeps it, or name another one.") -> ConfigError:
    return ConfigError(f"The index {place} {why}.", hint, code="config.index")


def _unknown(message: str, hint: str) -> ConfigError:
    return ConfigError(message, hint, code="config.unknown_pack")


def schema_text() -> str:
    """Return the JSON Schema of an index: the text of docs/reference/pack-index.schema.json."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **PackIndex.model_json_schema()}
    return json.dumps(schema, indent=2) + "\n"
