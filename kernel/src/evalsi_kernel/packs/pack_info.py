"""What is known of packs and their evaluators without starting them, as plain data that is fast to load."""

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
"""Runtime of packs whose evaluators are a Python module, in an environment built from their lock."""
RECORD_TIMEOUT_S = 60.0
MEMORY_MB = 2048


class OutputInfo(NamedTuple):
    """A score that an evaluator declares.

    Args:
        name: name of the metric; "" means the evaluator's own name.
        kind: pass, number or label.
        unit: unit of a number, such as "ms".
        minimum: lower bound of a number; None means unbounded.
        maximum: upper bound of a number; None means unbounded.
        higher_is_better: direction; None where there is none.
    """

    name: str = ""
    kind: Kind = "number"
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    higher_is_better: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the table as in a manifest, without absent keys."""
        table: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.unit:
            table["unit"] = self.unit
        for key in ("minimum", "maximum", "higher_is_better"):
            if (value := getattr(self, key)) is not None:
                table[key] = value
        return table

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> OutputInfo:
        """Return an output from `to_dict` or from a pack's description; raise ValueError for other tables."""
        output = cls(**{key: table[key] for key in cls._fields if key in table})
        if output.kind not in KINDS:
            raise ValueError(f"the kind of an output is {output.kind!r}, not one of {', '.join(KINDS)}")
        return output


class EvaluatorInfo(NamedTuple):
    """An evaluator of a pack.

    Args:
        name: name within its pack.
        pack: full name of its pack.
        version: changes whenever a score may change.
        summary: one line for the user.
        scope: "record" scores each record; "dataset" computes one score for all.
        needs: fields that a record must have; records without them are skipped.
        asks: capabilities of the kernel that it uses: judge, embed, sandbox.
        outputs: declared scores; empty where they are inferred from its results.
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
        """The name that always refers to this evaluator, such as "core/exact-match"."""
        return f"{self.pack}/{self.name}"

    def to_dict(self) -> dict[str, Any]:
        """Return the table as in a manifest, with the pack's name."""
        lists = {"needs": list(self.needs), "asks": list(self.asks)}
        return {**self._asdict(), **lists, "outputs": [output.to_dict() for output in self.outputs]}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> EvaluatorInfo:
        """Return an evaluator from `to_dict` or from a pack's description.

        Raise KeyError, TypeError or ValueError for other tables.
        """
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
    """A pack.

    Args:
        name: "core", or "publisher/name" for a third-party pack.
        version: version of the pack.
        summary: one line for the user.
        protocol: major version of the protocol that it speaks.
        folder: folder of its manifest.
        module: module to import in the pack's process; for other runtimes a file in the pack's folder.
        workers: "cpu" for one process per core; "wide" for one process with many concurrent requests.
        record_timeout_s: timeout of one record.
        memory_mb: a process that uses more memory is replaced.
        evaluators: in the order of the manifest.
        wraps: framework whose evaluators the pack wraps, "" for its own. An unqualified name refers to a wrapped
            evaluator only if no other pack has it.
        runtime: what runs the module: `python`, or one of an extension, such as `wasm`.
        options: options of that runtime, which its extension defines.
        permissions: requested permissions, as in the manifest; {} for none.
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
        """The part before the slash in the name of a third-party pack, else ""."""
        return self.name.rpartition("/")[0]

    @property
    def is_builtin(self) -> bool:
        """Whether the name has no publisher; third-party packs always have one."""
        return not self.publisher

    def to_dict(self) -> dict[str, Any]:
        """Return the pack as JSON."""
        evaluators = [evaluator.to_dict() for evaluator in self.evaluators]
        as_text = {"folder": str(self.folder), "options": dict(self.options), "permissions": dict(self.permissions)}
        return {**self._asdict(), **as_text, "evaluators": evaluators}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> PackInfo:
        """Return a pack from the output of `to_dict`."""
        evaluators = tuple(map(EvaluatorInfo.from_dict, table["evaluators"]))
        return cls(**{**table, "folder": Path(table["folder"]), "evaluators": evaluators})
