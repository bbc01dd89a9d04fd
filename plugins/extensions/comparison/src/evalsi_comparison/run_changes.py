"""Owns what differs between how two runs were made: target, prompt, data, evaluators, packs, judge, trials.

It must not know scores. Manifests of a run and of an evaluation are read alike; what one does not tell is not compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

MAX_SHOWN_CHARS = 120
HASH_DIGITS = 12
_HASH = re.compile(r"[0-9a-f]{64}")
_ABSENT = object()
# What a judge took says nothing of who it is.
_JUDGE = ("roles", "cache")


class Change(NamedTuple):
    """One thing that differs.

    Args:
        group: what it is about: `target`, `data`, `evaluators`, `packs`, `judge`, `run`, `gates` or `evalsi`.
        name: of the thing, dotted.
        base, candidate: what stands there, as text; "" for nothing.
        weakens: whether the candidate's gates let more pass than the base's.
    """

    group: str
    name: str
    base: str
    candidate: str
    weakens: bool = False


def run_changes(base: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[Change]:
    """What differs between two manifests, what matters most first."""
    return [
        *_nested("target", "", _target(base), _target(candidate)),
        *_nested("data", "", _data(base), _data(candidate)),
        *_evaluators(base, candidate),
        *_packs(base, candidate),
        *_nested("judge", "", _judge(base), _judge(candidate)),
        *_nested("run", "", _run(base), _run(candidate)),
        *_nested("evalsi", "", {"version": base.get("evalsi_version")}, {"version": candidate.get("evalsi_version")}),
    ]


def shown(value: Any) -> str:
    """A value as a line of text; of a hash the first digits."""
    if value is None or value is _ABSENT:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = text[:HASH_DIGITS] if _HASH.fullmatch(text) else " ".join(text.split())
    return line if len(line) <= MAX_SHOWN_CHARS else f"{line[: MAX_SHOWN_CHARS - 1]}…"


def _target(manifest: Mapping[str, Any]) -> Any:
    """Who answered: the spec names all that was set, the identity what it came to."""
    told = _dict(spec_of(manifest).get("target"))
    return {**told, **_dict(manifest.get("target"))}


def _data(manifest: Mapping[str, Any]) -> dict[str, Any]:
    dataset = _dict(manifest.get("dataset"))
    return {
        "sha256": dataset.get("sha256"),
        "source": dataset.get("source"),
        "records": dataset.get("records"),
        "limit": manifest.get("limit"),
        "mapping": _dict(manifest.get("mapping")),
    }


def _judge(manifest: Mapping[str, Any]) -> dict[str, Any]:
    judge = _dict(manifest.get("judge"))
    return {name: judge.get(name) for name in _JUDGE if name in judge}


def _run(manifest: Mapping[str, Any]) -> dict[str, Any]:
    summary = _dict(manifest.get("summary"))
    return {"trials": manifest.get("trials"), "cluster_by": summary.get("cluster_by")}


def _evaluators(base: Mapping[str, Any], candidate: Mapping[str, Any]) -> Iterator[Change]:
    sides = [
        {str(one.get("name")): one for one in _dicts(manifest.get("evaluators"))} for manifest in (base, candidate)
    ]
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        before, after = sides[0].get(name), sides[1].get(name)
        if before is None or after is None:
            yield Change("evaluators", name, shown((before or {}).get("ref")), shown((after or {}).get("ref")))
            continue
        if before.get("ref") != after.get("ref"):
            yield Change("evaluators", f"{name} version", shown(before.get("ref")), shown(after.get("ref")))
        yield from _nested("evaluators", name, _dict(before.get("params")), _dict(after.get("params")))
        # A file of before there were hashes of prompts says nothing of them.
        if "prompts" in before and "prompts" in after:
            yield from _nested("evaluators", f"{name} prompts", _prompts(before), _prompts(after))
        # Of an evaluator in a file of one's own, where both files are of a time since there is one.
        if "sha256" in before and "sha256" in after:
            yield from _nested("evaluators", f"{name} file", before["sha256"], after["sha256"])


def _prompts(evaluator: Mapping[str, Any]) -> str:
    return ", ".join(shown(one) for one in evaluator["prompts"])


def _packs(base: Mapping[str, Any], candidate: Mapping[str, Any]) -> Iterator[Change]:
    sides = [{str(one.get("name")): one for one in _dicts(manifest.get("packs"))} for manifest in (base, candidate)]
    # A pack that only one run used came with an evaluator, which is named already.
    for name in sides[0].keys() & sides[1].keys():
        yield from _nested("packs", name, _of_pack(sides[0][name]), _of_pack(sides[1][name]))


def _of_pack(pack: Mapping[str, Any]) -> dict[str, Any]:
    return {"version": pack.get("version"), "lock": pack.get("lock_sha256")}


def _nested(group: str, name: str, base: Any, candidate: Any) -> Iterator[Change]:
    """The leaves that differ."""
    if isinstance(base, dict) and isinstance(candidate, dict):
        for key in dict.fromkeys([*base, *candidate]):
            dotted = f"{name}.{key}" if name else str(key)
            yield from _nested(group, dotted, base.get(key, _ABSENT), candidate.get(key, _ABSENT))
    elif base != candidate and (shown(base) or shown(candidate)):
        before, after = shown(base), shown(candidate)
        if before == after:
            before, after = _around(base, candidate)
        yield Change(group, name, before, after)


def _around(base: Any, candidate: Any) -> tuple[str, str]:
    """Long values that begin alike, from shortly before where they part."""
    texts = [
        " ".join((one if isinstance(one, str) else json.dumps(one, ensure_ascii=False, default=str)).split())
        for one in (base, candidate)
    ]
    same = next((at for at, (one, other) in enumerate(zip(*texts, strict=False)) if one != other), min(map(len, texts)))
    start = max(0, same - MAX_SHOWN_CHARS // 4)
    before, after = (shown(f"{'…' if start else ''}{text[start:]}") for text in texts)
    return (before, after) if before != after else (f"{before} ", f"{after} (spaces differ)")


def spec_of(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The spec of a run, whether its keys stand in it or under `spec`."""
    spec = _dict(manifest.get("spec"))
    return _dict(spec.get("spec")) or spec


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> Sequence[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
