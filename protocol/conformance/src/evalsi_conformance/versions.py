"""Compare the version of a pack's manifest with that of its Python project."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

PYPROJECT: Final = "pyproject.toml"
_ZEROS: Final = re.compile(r"(\.0+)+$")


def project_version(folder: Path) -> str | None:
    """Return the version in a folder's pyproject.toml; None if it is dynamic or cannot be read."""
    try:
        project = tomllib.loads((folder / PYPROJECT).read_text("utf-8")).get("project")
    except (OSError, ValueError, RecursionError):
        return None
    version = project.get("version") if isinstance(project, dict) else None
    return version if isinstance(version, str) else None


def is_same_version(one: str, other: str) -> bool:
    """Return whether two versions are equal under PEP 440, such as 1.0, v1.0.0 and 1."""
    return _normal(one) == _normal(other)


def _normal(version: str) -> str:
    """Return a version in the normal form of PEP 440, as far as packs write versions."""
    text = version.strip().lower().removeprefix("v")
    match = re.fullmatch(r"(\d+(?:\.\d+)*)(.*)", text)
    if match is None:
        return text
    release, rest = match.groups()
    release = ".".join(str(int(part)) for part in release.split("."))
    rest = re.sub(r"[-_.]?(alpha|beta|preview|pre|rc|a|b|c|post|rev|r|dev)[-_.]?(\d*)", _word, rest)
    return _ZEROS.sub("", release) + rest.replace("-", ".").replace("_", ".")


def _word(match: re.Match[str]) -> str:
    name = {"alpha": "a", "beta": "b", "preview": "rc", "pre": "rc", "c": "rc", "rev": "post", "r": "post"}
    word = name.get(match[1], match[1])
    return f"{'.' if word in ('post', 'dev') else ''}{word}{int(match[2] or 0)}"
