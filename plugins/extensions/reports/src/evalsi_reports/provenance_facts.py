"""Owns what a report says of where numbers come from: versions, hashes, the target, the judge, the data, the host.

It must not know scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .figures import counted
from .report import ReportData
from .shown_text import json_text, one_line
from .values import known_count, objects, one_object

_MOST_PACKS = 40


def short_facts(report: ReportData) -> list[tuple[str, str]]:
    """What a person wants to know at once: target, judge, data, when, commit."""
    manifest = report.manifest
    facts = [("target", target_name(manifest)), ("judge", judge_name(manifest)), ("data", _data_name(manifest))]
    facts.append(("finished", _moment(manifest.get("finished_at"))))
    source = one_object(manifest.get("source"))
    facts += [("commit", str(source.get("commit") or "")[:12]), ("branch", str(source.get("branch") or ""))]
    facts.append(("pull request", str(source.get("pull_request") or "")))
    labels = one_object(manifest.get("labels"))
    facts.append(("labels", ", ".join(f"{key}={value}" for key, value in labels.items())))
    return [(name, one_line(text, 120)) for name, text in facts if text]


def versions(report: ReportData) -> list[tuple[str, str]]:
    """Everything that identifies the run, as name and text."""
    return [(name, one_line(text, 400)) for name, text in _versions(report.manifest) if text and text != "None"]


def blocks(report: ReportData) -> list[tuple[str, str]]:
    """What is too long for a line: params of evaluators, and the spec."""
    manifest = report.manifest
    found = []
    params = {
        str(one.get("name")): one["params"]
        for one in objects(manifest.get("evaluators"))
        if one_object(one.get("params"))
    }
    if params:
        found.append(("Params of evaluators", json_text(params)))
    if manifest.get("spec"):
        found.append(("Spec, with its defaults", json_text(manifest["spec"])))
    return [
        (name, text if len(text) <= 20_000 else f"{text[:20_000]}\n… the rest is in the file") for name, text in found
    ]


def target_name(manifest: Mapping[str, Any]) -> str:
    """The target in a few words; "" where there was none."""
    target = one_object(manifest.get("target"))
    named = target.get("model") or target.get("name") or target.get("url") or target.get("command") or ""
    kind = target.get("connector") or target.get("provider") or target.get("type") or target.get("kind") or ""
    return " · ".join(str(part) for part in (kind, named) if part)


def judge_name(manifest: Mapping[str, Any]) -> str:
    """The judge's model; "" where none was asked."""
    roles = one_object(one_object(manifest.get("judge")).get("roles"))
    return ", ".join(dict.fromkeys(str(one_object(role).get("model")) for role in roles.values()))


def _versions(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Run", str(manifest.get("run_id") or "")
    yield "Project", str(manifest.get("project") or "")
    yield "Status", " · ".join(str(manifest[key]) for key in ("status", "state") if manifest.get(key))
    yield "Started", _moment(manifest.get("started_at"))
    yield "Finished", _moment(manifest.get("finished_at"))
    attempts = manifest.get("attempts")
    if isinstance(attempts, list) and len(attempts) > 1:
        for number, one in enumerate(map(one_object, attempts), 1):
            times = (_moment(one.get(key)) or "unknown" for key in ("started_at", "finished_at"))
            yield f"Attempt {number}", " – ".join(times)
    yield "Evals.si", str(manifest.get("evalsi_version") or "")
    dataset = one_object(manifest.get("dataset"))
    yield "Data", str(dataset.get("source") or "")
    if (read := known_count(dataset.get("records"))) is not None:
        yield "Records read", f"{read:,}"
    yield "Data, SHA-256", str(dataset.get("sha256") or "not read to the end")
    yield "Target", target_name(manifest)
    yield "Trials", str(manifest.get("trials") or "")
    yield "Spec, SHA-256", str(manifest.get("spec_sha256") or "")
    if kept := known_count(manifest.get("kept")):
        yield "Kept from an earlier attempt", counted(kept, "item")
    for role, settings in one_object(one_object(manifest.get("judge")).get("roles")).items():
        told = one_object(settings)
        yield f"Model, {role}", ", ".join(f"{key} {value}" for key, value in told.items() if value is not None)
    for evaluator in objects(manifest.get("evaluators")):
        yield f"Evaluator {one_line(str(evaluator.get('name')), 60)}", str(evaluator.get("ref") or "")
    for pack in objects(manifest.get("packs"))[:_MOST_PACKS]:
        lock = str(pack.get("lock_sha256") or "")
        yield (
            f"Pack {one_line(str(pack.get('name')), 60)}",
            f"{pack.get('version')}{f' · lock {lock[:16]}' if lock else ''}",
        )
    summary = one_object(manifest.get("summary"))
    yield (
        "Intervals",
        ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in summary.items() if value is not None),
    )
    host = one_object(manifest.get("host"))
    yield "Host", ", ".join(f"{key} {value}" for key, value in host.items() if value is not None)
    source = one_object(manifest.get("source"))
    for key in ("commit", "branch", "pull_request", "url", "ci"):
        yield key.replace("_", " ").capitalize(), str(source.get(key) or "")


def _data_name(manifest: Mapping[str, Any]) -> str:
    return str(one_object(manifest.get("dataset")).get("source") or "")


def _moment(value: Any) -> str:
    """2026-11-29T22:10:03.123+00:00 as 2026-11-29 22:10:03 UTC."""
    text = str(value or "")
    return f"{text[:10]} {text[11:19]} UTC" if text.endswith("+00:00") and len(text) >= 19 else text
