"""One record, as an evaluator sees it.

Reading a field that the record lacks skips the record; nothing here is ever invented or changed.
"""

from __future__ import annotations

from typing import Any

from evalsi.content import Content, content
from evalsi.score import MissingField

CONTENT_FIELDS = ("input", "output")
MAP_FIELDS = ("usage", "metadata", "provenance", "trajectory", "check")


class Record:
    """The unit of evaluation. Build one from keywords in a test; in a run it comes from the data.

    Args:
        id: unique in the data.
        input, output: text, a list of chat messages, or any JSON value.
        reference: the right answer; a list means that any of them is right.
        context: what the answer may rest on, a list.
        trajectory: `{"steps": [...]}`.
        usage: `input_tokens`, `output_tokens`, `total_tokens`, `cost_usd`, `latency_ms`.
        metadata: whatever else is known.
    """

    __slots__ = ("wire",)

    def __init__(
        self,
        *,
        id: str = "0",
        input: Any = None,
        output: Any = None,
        reference: Any = None,
        context: Any = None,
        trajectory: dict[str, Any] | None = None,
        usage: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        provenance: dict[str, Any] | None = None,
        check: dict[str, Any] | None = None,
    ) -> None:
        wire: dict[str, Any] = {"id": id}
        if input is not None:
            wire["input"] = content(input)
        if output is not None:
            wire["output"] = content(output)
        if reference is not None:
            wire["reference"] = _any_of(reference)
        if context is not None:
            wire["context"] = [content(item) for item in (context if isinstance(context, list) else [context])]
        for name, value in (
            ("trajectory", trajectory),
            ("usage", usage),
            ("metadata", metadata),
            ("provenance", provenance),
            ("check", check),
        ):
            if value is not None:
                wire[name] = value
        self.wire = wire

    @classmethod
    def from_wire(cls, wire: dict[str, Any]) -> Record:
        """A record around the wire's map, unchecked: the kernel checked it."""
        record = cls.__new__(cls)
        record.wire = wire
        return record

    @property
    def id(self) -> str:
        """The record's id, unique in the data."""
        identity: str = self.wire["id"]
        return identity

    def has(self, field: str) -> bool:
        """Whether the record has this field; `usage.latency_ms` reaches into a map."""
        value: Any = self.wire
        for part in field.split("."):
            if not isinstance(value, dict) or part not in value:
                return False
            value = value[part]
        return True

    @property
    def input(self) -> Content:
        """What was asked; skips the record when it has none."""
        return self._content("input")

    @property
    def output(self) -> Content:
        """What is graded; skips the record when it has none."""
        return self._content("output")

    @property
    def references(self) -> list[Content]:
        """The right answers, at least one; skips the record when it has none."""
        reference = self.wire.get("reference")
        if type(reference) is list:
            if reference:
                return [Content(item) for item in reference]
        elif reference is not None:
            return [Content(reference)]
        raise MissingField("reference")

    @property
    def reference(self) -> Content:
        """The first right answer; skips the record when it has none."""
        return self.references[0]

    @property
    def context(self) -> list[Content]:
        """What the answer may rest on, in order; skips the record when it has none."""
        return [Content(item) for item in self._field("context")]

    @property
    def trajectory(self) -> list[dict[str, Any]]:
        """The steps of an agent, in order; skips the record when it has none."""
        steps: list[dict[str, Any]] = self._field("trajectory").get("steps", [])
        return steps

    @property
    def usage(self) -> dict[str, Any]:
        """Tokens, cost and latency as far as they are known; empty when none is."""
        usage: dict[str, Any] = self.wire.get("usage", {})
        return usage

    @property
    def metadata(self) -> dict[str, Any]:
        """Whatever else is known; empty when nothing is."""
        metadata: dict[str, Any] = self.wire.get("metadata", {})
        return metadata

    @property
    def provenance(self) -> dict[str, Any]:
        """Where the record came from; empty when unknown."""
        provenance: dict[str, Any] = self.wire.get("provenance", {})
        return provenance

    @property
    def check(self) -> dict[str, Any]:
        """The verdict of a checker that ran before; skips the record when there is none."""
        check: dict[str, Any] = self._field("check")
        return check

    def _content(self, field: str) -> Content:
        try:
            return Content(self.wire[field])
        except KeyError:
            raise MissingField(field) from None

    def _field(self, field: str) -> Any:
        try:
            return self.wire[field]
        except KeyError:
            raise MissingField(field) from None

    def __repr__(self) -> str:
        return f"Record({self.wire!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.wire == other.wire

    __hash__ = None  # type: ignore[assignment]


def _any_of(reference: Any) -> Any:
    """A list is a list of references, but for a list of chat messages, which is one."""
    if isinstance(reference, list) and not (
        reference and all(isinstance(item, dict) and "role" in item for item in reference)
    ):
        return [content(item) for item in reference]
    return content(reference)
