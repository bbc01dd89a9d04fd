"""docs/reference/plugin-toml.md, from the models that check a manifest and the docstrings that say what a key means.

It must not know a pack.
"""

from __future__ import annotations

import types
import typing
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from evalsi_kernel.packs import manifests
from evalsi_kernel.packs.pack_info import EvaluatorInfo, OutputInfo, PackInfo
from tests.docs.docstrings import arguments
from tests.docs.markdown import WRITTEN, code, joined, table

EXAMPLE = Path(__file__).resolve().parents[2] / "plugins" / "packs" / "core" / "plugin.toml"
HEAD = """\
# plugin.toml

{written}

The manifest of a pack: what it is called, how its process runs, and what its evaluators are. It is read without
starting the pack, and it is strict: an unknown key or a wrong type is an error that names every problem at once. It
lies beside the pack's `uv.lock` and `src/`, from which its [environment](../decisions/0003-pack-environments.md) comes.

The `[[evaluators]]` tables are written from the code: `python -m evalsi.manifest MODULE --write plugin.toml`.

```toml
{example}
```
"""
OWN = {
    "manifest": f"the format of this file; {manifests.FORMAT}",
    "run": "a table, see below",
    "permissions": "a table, see below; a project [grants them](../how-to/add-a-pack.md) when it adds the pack",
    "evaluators": "one table or more, see below",
}
PERMISSIONS = {
    "judge": "roles of models that it asks, such as `primary`; what the evaluators' `asks` say where it is left out",
    "asks_per_record": "a table: evaluator, and how many questions to a model it asks at most for one record",
    "network": "hosts that it connects to, as `host` or `host:port`",
    "files": "paths that it reads beside its own files, absolute or from `~/`",
    "secrets": "environment variables that it is given",
}
WORDS = {str: "text", int: "integer", float: "number", bool: "true or false"}
TABLES: tuple[tuple[str, Any, dict[str, str]], ...] = (
    ("The file", manifests.Manifest, arguments(PackInfo) | OWN),
    ("[run]", manifests.Run, arguments(PackInfo)),
    ("[permissions]", manifests.Permissions, PERMISSIONS),
    ("[[evaluators]]", manifests.Evaluator, arguments(EvaluatorInfo)),
    ("An element of outputs", manifests.Output, arguments(OutputInfo)),
)


def page() -> str:
    """The whole page."""
    lines = [HEAD.format(written=WRITTEN.format(source="evalsi_kernel.packs.manifests"), example=_example())]
    for title, model, meanings in TABLES:
        rows = [_row(name, one, meanings[name]) for name, one in model.model_fields.items()]
        lines += [f"## {title}", "", *table(("key", "value", "default", "meaning"), rows), ""]
    lines += [f"`needs` may name {', '.join(map(code, manifests.NEEDS))}, or a part such as `usage.latency_ms`."]
    lines += [f"`asks` may name {', '.join(map(code, manifests.ASKS))}."]
    return joined(lines)


def _example() -> str:
    """The core pack's manifest up to its first evaluator."""
    text = EXAMPLE.read_text(encoding="utf-8")
    return "[[evaluators]]".join(text.split("[[evaluators]]")[:2]).rstrip()


def _row(name: str, field: FieldInfo, meaning: str) -> tuple[str, str, str, str]:
    default = field.get_default(call_default_factory=True)
    if default in (None, "", [], {}):
        default = ""
    return code(name), _type(field.annotation), "required" if field.is_required() else code(str(default)), meaning


def _type(annotation: Any) -> str:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(code(str(value)) for value in inner)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type(one) for one in inner if one is not type(None))
    if origin is list:
        return f"list of {_type(inner[0])}"
    if origin is dict:
        return "JSON Schema" if inner[1] is Any else "table"
    if origin is typing.Annotated:
        return _type(inner[0])
    return WORDS.get(annotation, "table")
