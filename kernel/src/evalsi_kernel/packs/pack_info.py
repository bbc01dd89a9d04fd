"""What is known of packs and their evaluators without starting one, as plain data that costs little to load.

It must not know how a manifest is written or checked (`manifests`), nor where packs lie (`catalog`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

Kind = Literal["pass", "number", "label"]
Scope = Literal["record", "dataset"]
Workers = Literal["cpu", "wide"]

KINDS: tuple[str, ...] = get_args(Kind)
SCOPES: tuple[str, ...] = get_args(Scope)

PYTHON = "python"
"""The runtime of a pack whose evaluators are a Python module, in an environment of its lock."""
RECORD_TIMEOUT_S = 60.0
MEMORY_MB = 2048


class OutputInfo(NamedTuple):
    """One score that an evaluator declares.

    Args:
        name: of the metric; "" means the evaluator's own name.
        kind: pass, number or label.
        unit: of a number, such as "ms".
        minimum: the least number that it can be, None where that is open.
        maximum: the greatest, likewise.
        higher_is_better: the direction; None where there is none.
    """

    name: str = ""
    kind: Kind = "number"
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    higher_is_better: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """As in a manifest; what is absent is left out."""
        table: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.unit:
            table["unit"] = self.unit
        for key in ("minimum", "maximum", "higher_is_better"):
            if (value := getattr(self, key)) is not None:
                table[key] = value
        return table

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> OutputInfo:
        """Read what `to_dict` wrote, or what a pack describes; raises ValueError where it is neither."""
        output = cls(**{key: table[key] for key in cls._fields if key in table})
        if output.kind not in KINDS:
            raise ValueError(f"the kind of an output is {output.kind!r}, not one of {', '.join(KINDS)}")
        return output


class EvaluatorInfo(NamedTuple):
    """One evaluator.

    Args:
        name: within its pack.
        pack: the full name of its pack.
        version: changes whenever a score may.
        summary: one line for a person.
        scope: "record" scores each record; "dataset" gives one score for all.
        needs: fields that a record must have, else it is skipped.
        asks: capabilities of the kernel that it uses: judge, embed, sandbox.
        outputs: the scores that it declares; none where they are taken from what it returns.
        params: JSON Schema of its params.
    """

    name: str
    pack: str
    version: str
    summary: str = ""
    scope: Scope = "record"
    needs: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    outputs: tuple[OutputInfo, ...] = ()
    params: Mapping[str, Any] = MappingProxyType({})

    @property
    def ref(self) -> str:
        """The name that means this evaluator wherever its pack is installed, such as "core/exact-match"."""
        return f"{self.pack}/{self.name}"

    def to_dict(self) -> dict[str, Any]:
        """As in a manifest, with the pack's name beside."""
        lists = {"needs": list(self.needs), "asks": list(self.asks)}
        return {**self._asdict(), **lists, "outputs": [output.to_dict() for output in self.outputs]}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> EvaluatorInfo:
        """Read what `to_dict` wrote or a pack describes; raises KeyError, TypeError or ValueError on neither."""
        scope = table.get("scope", "record")
        if scope not in SCOPES:
            raise ValueError(f"the scope of {table['name']!r} is {scope!r}, not one of {', '.join(SCOPES)}")
        return cls(
            str(table["name"]),
            str(table["pack"]),
            str(table["version"]),
            table.get("summary", ""),
            scope,
            tuple(table.get("needs", ())),
            tuple(table.get("asks", ())),
            tuple(map(OutputInfo.from_dict, table.get("outputs", ()))),
            table.get("params", {}),
        )


class PackInfo(NamedTuple):
    """One pack.

    Args:
        name: "core", or "publisher/name" for a third party's.
        version: of the pack as a whole.
        summary: one line for a person.
        protocol: the major of the protocol that it speaks.
        folder: where its manifest lies.
        module: what the host loop imports in the pack's process; for another runtime a file in the pack's folder.
        workers: "cpu" for one process a core; "wide" for one process with many requests in flight.
        record_timeout_s: how long one record may take.
        memory_mb: a process that holds more is replaced.
        evaluators: in the order of the manifest.
        wraps: the framework whose evaluators they are, "" for the pack's own; a short name means one of these only
            where no other pack has it.
        runtime: what the module is run by: `python`, or one that an extension brings, such as `wasm`.
        options: what that runtime is told; the extension says what there is.
        permissions: what it asks for beyond computing, as the manifest has it; {} where it asks for nothing.
    """

    name: str
    version: str
    summary: str
    protocol: int
    folder: Path
    module: str
    workers: Workers = "cpu"
    record_timeout_s: float = RECORD_TIMEOUT_S
    memory_mb: int = MEMORY_MB
    evaluators: tuple[EvaluatorInfo, ...] = ()
    wraps: str = ""
    runtime: str = PYTHON
    options: Mapping[str, Any] = MappingProxyType({})
    permissions: Mapping[str, Any] = MappingProxyType({})

    @property
    def publisher(self) -> str:
        """What stands before the slash of a third party's pack, else ""."""
        return self.name.rpartition("/")[0]

    @property
    def is_builtin(self) -> bool:
        """Whether the name is a plain one, which third parties do not use."""
        return not self.publisher

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        evaluators = [evaluator.to_dict() for evaluator in self.evaluators]
        as_text = {"folder": str(self.folder), "options": dict(self.options), "permissions": dict(self.permissions)}
        return {**self._asdict(), **as_text, "evaluators": evaluators}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> PackInfo:
        """Read what `to_dict` wrote."""
        evaluators = tuple(map(EvaluatorInfo.from_dict, table["evaluators"]))
        return cls(**{**table, "folder": Path(table["folder"]), "evaluators": evaluators})
