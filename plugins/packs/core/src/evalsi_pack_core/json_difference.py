"""How two JSON values differ, field by field, as JSON sees it: one type of number, true is no number, order of keys free.

It must not know records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs, a phrase a field, and how many fields were compared."""

    differing: tuple[str, ...]
    compared: int

    @property
    def share(self) -> float:
        """Equal fields over compared ones; two values without any field are equal as a whole."""
        return 1 - len(self.differing) / self.compared if self.compared else 1.0

    @property
    def rank(self) -> tuple[int, float]:
        """Smaller is more alike."""
        return len(self.differing), -self.share


def parse_paths(words: Iterable[str]) -> frozenset[str]:
    """Names and paths to leave out; a leading `$.` is allowed."""
    return frozenset(word.removeprefix("$.") for word in words)


def differences(left: Any, right: Any, ignore: frozenset[str], tolerance: Mapping[str, float]) -> Difference:
    """Compare the leaves of both values.

    Args:
        left: the output.
        right: the reference.
        ignore: names or paths of fields that are not compared.
        tolerance: name or path of a field → absolute tolerance of its numbers.
    """
    found = list(_walk(left, right, "", ignore, tolerance))
    return Difference(tuple(phrase for phrase in found if phrase), len(found))


def _walk(left: Any, right: Any, path: str, ignore: frozenset[str], tolerance: Mapping[str, float]) -> Iterator[str]:
    """A phrase for each leaf, empty where both sides are equal."""
    if isinstance(left, dict) and isinstance(right, dict):
        keys = [key for key in {**right, **left} if not _named(f"{path}.{key}".lstrip("."), key, ignore)]
        if not keys:
            yield ""
        for key in keys:
            inner = f"{path}.{key}".lstrip(".")
            if key not in left:
                yield f"{inner} is missing"
            elif key not in right:
                yield f"{inner} is not in the reference"
            else:
                yield from _walk(left[key], right[key], inner, ignore, tolerance)
    elif isinstance(left, list) and isinstance(right, list):
        if not left and not right:
            yield ""
        for index in range(max(len(left), len(right))):
            inner = f"{path}[{index}]"
            if _named(inner, "", ignore):
                continue
            if index >= len(left):
                yield f"{inner} is missing"
            elif index >= len(right):
                yield f"{inner} is not in the reference"
            else:
                yield from _walk(left[index], right[index], inner, ignore, tolerance)
    elif _equal(left, right, _tolerance_of(path, tolerance)):
        yield ""
    else:
        yield f"{path or 'the value'} is {_short(left)}, not {_short(right)}"


def _equal(left: Any, right: Any, tolerance: float) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right or abs(left - right) <= tolerance
    return type(left) is type(right) and bool(left == right)


def _named(path: str, key: str, names: frozenset[str]) -> bool:
    return bool(names) and (key in names or path in names or _INDEX.sub("[]", path) in names)


def _tolerance_of(path: str, tolerance: Mapping[str, float]) -> float:
    if not tolerance:
        return 0.0
    name = _INDEX.sub("", path).rpartition(".")[2]
    return tolerance.get(path, tolerance.get(_INDEX.sub("[]", path), tolerance.get(name, 0.0)))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
