"""One record, as an evaluator sees it.

Reading a field that the record lacks skips the record; nothing here is ever invented or changed.
"""

from __future__ import annotations

from typing import Any

from evalsi.content import Content, content, is_messages
from evalsi.score import MissingField, Skip, shown


class Record:
    """The unit of evaluation. Build one from keywords in a test; in a run it comes from the data.

    Args:
        id: unique in the data; None lets the data's place number it.
        input: what was asked: text, a list of chat messages, or any JSON value.
        output: what is graded, likewise.
        reference: the right answer, likewise; a list means that any of them is right.
        context: what the answer may rest on, a list.
        trajectory: the steps of an agent, a list or `{"steps": [...]}`; a call of a tool is
            `{"type": "tool", "name": …, "input": …, "output": …}`, and common other spellings are read as that.
        usage: `input_tokens`, `output_tokens`, `total_tokens`, `cost_usd`, `latency_ms`.
        metadata: whatever else is known.
        provenance: where the record came from.
        check: the verdict of a checker that ran before.

    Raises:
        TypeError: the id is not text, or one of the maps is none.
    """

    __slots__ = ("wire",)

    def __init__(
        self,
        *,
        id: str | None = None,
        input: Any = None,
        output: Any = None,
        reference: Any = None,
        context: Any = None,
        trajectory: list[dict[str, Any]] | dict[str, Any] | None = None,
        usage: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        provenance: dict[str, Any] | None = None,
        check: dict[str, Any] | None = None,
    ) -> None:
        steps = {"steps": trajectory} if isinstance(trajectory, list) else trajectory
        maps = {"trajectory": steps, "usage": usage, "metadata": metadata, "provenance": provenance, "check": check}
        for name, value in maps.items():
            if value is not None and not isinstance(value, dict):
                raise TypeError(f"{name} is {value!r}; write it as a dict.")
        if steps and isinstance(steps.get("steps"), list):
            from evalsi_protocol.steps import read_steps  # Only who builds a record of an agent needs it.

            maps["trajectory"] = {**steps, "steps": read_steps(steps["steps"])}
        if id is not None and not isinstance(id, str):
            raise TypeError(f"id is {id!r}; write it as text.")
        fields = {
            "id": id,
            "input": None if input is None else content(input),
            "output": None if output is None else content(output),
            "reference": None if reference is None else _any_of(reference),
            "context": None if context is None else _list_of(context),
            **maps,
        }
        self.wire: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}

    @classmethod
    def from_wire(cls, wire: dict[str, Any]) -> Record:
        """A record around the wire's map, unchecked: the kernel checked it."""
        record = cls.__new__(cls)
        record.wire = wire
        return record

    @property
    def id(self) -> str:
        """The record's id, unique in the data and the same in each of its trials; "" for one that was built without."""
        identity: str = self.wire.get("record_id") or self.wire.get("id", "")
        return identity

    def has(self, field: str) -> bool:
        """Whether the record has this field; `usage.latency_ms` reaches into a map, where null counts as absent."""
        value: Any = self.wire
        for part in field.split("."):
            if not isinstance(value, dict):
                return False
            value = value.get(part)
        return value is not None

    @property
    def input(self) -> Content:
        """What was asked; skips the record when it has none."""
        try:
            return Content(self.wire["input"])
        except KeyError:
            raise MissingField("input") from None

    @property
    def output(self) -> Content:
        """What is graded; skips the record when it has none. As text, a conversation is its last assistant message."""
        try:
            return Content(self.wire["output"], "output")
        except KeyError:
            raise MissingField("output") from None

    @property
    def output_text(self) -> str:
        """The answer as text: the same as `output.as_text()`, and quicker.

        Of chat messages it is the last assistant message; the record is skipped where there is none.
        """
        output = self.wire.get("output")
        return output if type(output) is str else self.output.as_text()

    @property
    def references(self) -> list[Content]:
        """The right answers, at least one; skips the record when it has none."""
        reference = self.wire.get("reference")
        if type(reference) is list:
            if reference:
                return [Content(item, "reference") for item in reference]
        elif reference is not None:
            return [Content(reference, "reference")]
        raise MissingField("reference")

    @property
    def reference_texts(self) -> list[str]:
        """The right answers as text, at least one; skips the record when it has none."""
        reference = self.wire.get("reference")
        return [reference] if type(reference) is str else [item.as_text() for item in self.references]

    @property
    def reference(self) -> Content:
        """The first right answer; skips the record when it has none."""
        return self.references[0]

    @property
    def context(self) -> list[Content]:
        """What the answer may rest on, in order; skips the record when it has none. An empty list is one."""
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

    def require_shown(self, *fields: str) -> None:
        """Skip the record where its text would hide an image, audio or a file from a judge.

        Judges are asked in text. A field that the record lacks hides nothing.

        Args:
            fields: of "input", "output", "reference" and "context"; those that the judge is shown.

        Raises:
            Skip: a field holds a part that its text leaves out.
        """
        for field in fields:
            value = self.wire.get(field)
            if value is None or type(value) is str:
                continue
            for item in value if isinstance(value, list) else [value]:
                require_shown(Content(item), field)

    def _field(self, field: str) -> Any:
        try:
            return self.wire[field]
        except KeyError:
            raise MissingField(field) from None

    def __repr__(self) -> str:
        return f"Record({', '.join(f'{name}={value!r}' for name, value in self.wire.items())})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (str, bytes, int, float, list, dict)):
            # An evaluator that takes the record for a text would score 0 on every record.
            raise TypeError(f"A Record was compared with {shown(other)}; compare record.output.as_text() with it.")
        return isinstance(other, Record) and self.wire == other.wire

    __hash__ = None  # type: ignore[assignment]


def require_shown(shown: Content, name: str) -> None:
    """Skip the record where the text of this content hides something from a judge; `name` is what to call it."""
    unseen = shown.unseen()
    if unseen:
        raise Skip(f"the {name} holds {' and '.join(unseen)}, which no judge is shown")


def _any_of(reference: Any) -> Any:
    """A list is a list of references, but for a list of chat messages, which is one."""
    if isinstance(reference, (list, tuple)) and not is_messages(reference):
        return _list_of(reference)
    return content(reference)


def _list_of(values: Any) -> list[Any]:
    """The wire form of a list of contents; one alone is a list of one, and null is none."""
    items = values if isinstance(values, (list, tuple)) else [values]
    return [content(item) for item in items if item is not None]
