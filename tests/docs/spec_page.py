"""docs/reference/run-spec.md and run.schema.json, from the models that check a run's spec.

It must not know a target: each kind brings its own keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from evalsi_kernel.extensions.installed import default_extensions
from evalsi_runs.schema_command import run_schema
from tests.docs.markdown import WRITTEN, code, joined, table

HEAD = """\
# The spec of a run

{written}

What `evalsi run -f run.yaml` reads: YAML 1.2 or JSON, at most 4 MiB. An unknown key, a wrong type or a key that stands
twice is an error that names its line, and all of them are told at once. Anchors, aliases, tags and merge keys are not
read, so that a value is what it looks like. Paths are relative to the file. No variable of the environment is read but
those that a key names, such as `api_key_env`.

`evalsi schema run` prints the same as JSON Schema, with the keys of the targets that are installed; for those that come
with Evals.si it is [run.schema.json](run.schema.json). An editor knows the keys once the file begins with
`# yaml-language-server: $schema=run.schema.json`. [Run and gate](../how-to/run-and-gate.md) shows a run from its
beginning; [Choose a target](../how-to/choose-a-target.md) and [Gate a run](../how-to/gate-a-run.md) say more of their
parts.
"""
SECTIONS = (
    ("The file", "RunDocument", ""),
    ("metadata", "Metadata", ""),
    ("spec", "Spec", ""),
    ("spec.dataset", "DatasetSpec", "One of `path`, `uri` and `inline`."),
    ("spec.evaluators[]", "EvaluatorSpec", ""),
    ("spec.summary", "SummarySpec", ""),
    ("spec.gates[]", "GateSpec", ""),
    ("spec.stop_when_decided", "StopSpec", "`true` is this table with its defaults."),
    ("spec.budget", "BudgetSpec", "All attempts of a run count together, but for the clock."),
)
NAMES = {
    "Metadata": "table",
    "Spec": "table",
    "DatasetSpec": "table",
    "EvaluatorSpec": "table",
    "SummarySpec": "table",
    "GateSpec": "table",
    "StopSpec": "table",
    "BudgetSpec": "table",
    "TargetSpec": "table",
    "InlineData": "`{records: […]}`",
    "Thinking": "`{mode, budget_tokens}`",
    "FallbackOptions": "table",
}
WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "table",
    "array": "list",
}
SHARED = ("connector", "max_concurrency")
DURATION = "^(\\d+"


def schema() -> dict[str, Any]:
    """The schema, of the targets of the repository."""
    return run_schema(default_extensions())


def schema_file() -> str:
    """docs/reference/run.schema.json."""
    return json.dumps(schema(), ensure_ascii=False, indent=2) + "\n"


def page() -> str:
    """docs/reference/run-spec.md."""
    whole = schema()
    models = {**whole["$defs"], "RunDocument": whole}
    lines = [HEAD.format(written=WRITTEN.format(source="evalsi_kernel.runs.spec"))]
    for title, name, note in SECTIONS:
        lines += [f"## {title}", "", *([note, ""] if note else []), *keys_of(models[name]), ""]
        if name == "Spec":
            lines += _targets(models["TargetSpec"]["oneOf"])
    return joined(lines)


def keys_of(model: Mapping[str, Any], *, without: tuple[str, ...] = ()) -> list[str]:
    """The table of a model's keys."""
    required = model.get("required", [])
    rows = [
        (code(name), _type(one), "required" if name in required else _default(one), one.get("description", ""))
        for name, one in model.get("properties", {}).items()
        if name not in without
    ]
    return table(("key", "value", "default", "meaning"), rows) if rows else ["It has no key of its own."]


def _targets(all_variants: list[Mapping[str, Any]]) -> Iterator[str]:
    variants = [one for one in all_variants if one["title"] != "agent"]
    yield from (
        "## spec.target",
        "",
        "Every target has these keys, and those of its kind. `agent: {KIND: {…}}` is `connector: KIND` with its keys.",
        "",
    )
    shared = {name: dict(variants[0]["properties"][name]) for name in SHARED}
    shared["connector"] = {
        "enum": [one["title"] for one in variants],
        "description": shared["connector"]["description"],
    }
    yield from keys_of({"properties": shared, "required": ["connector"]})
    yield ""
    told: dict[str, list[str]] = {}
    for one in variants:
        told.setdefault("\n".join(keys_of(one, without=SHARED)), []).append(one["title"])
    for keys, titles in told.items():
        yield from (f"### {' and '.join(f'`{title}`' for title in titles)}", "", keys, "")


def _default(one: Mapping[str, Any]) -> str:
    default = one.get("default")
    return "" if default is None else code(default if isinstance(default, str) else json.dumps(default))


def _type(one: Mapping[str, Any]) -> str:
    if "$ref" in one:
        return NAMES[one["$ref"].rpartition("/")[2]]
    if "anyOf" in one or "oneOf" in one:
        kinds = [_type(each) for each in one.get("anyOf", one.get("oneOf", ())) if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in one:
        return " or ".join(code(str(value)) for value in one["enum"])
    if "const" in one:
        return code(str(one["const"]))
    if one.get("pattern", "").startswith(DURATION):
        return "a duration such as `90s`, `10m` or `1.5h`"
    if "pattern" in one and "GATE_STAT" in one["pattern"]:
        return "a name such as `GATE_STAT_MEAN`"
    if one.get("type") == "array" and "items" in one:
        return f"list of {_type(one['items'])}s" if one["items"].get("type") else "list of tables"
    return WORDS.get(one.get("type", ""), "any value")
