"""The record that an evaluator scores. Reading a field that the record lacks skips the record."""

from __future__ import annotations

from typing import Any

from evalsi.content import Content, content, is_messages
from evalsi.score import MissingField, Skip, shown


class Record:
    """One record to score. In a run it comes from the data; in a test, create it from keyword arguments.

    Args:
        id: id, unique in the data; None uses the position in the data.
        input: the question: text, a list of chat messages, or any JSON value.
        output: the answer to score, in the same forms.
        reference: the correct answer, in the same forms; a list contains alternative correct answers.
        context: a list of texts that the answer may rely on, such as retrieved documents.
        trajectory: the steps of an agent, a list or `{"steps": [...]}`. A tool call is
            `{"type": "tool", "name": …, "input": …, "output": …}`; other common formats are converted to it.
        usage: `input_tokens`, `output_tokens`, `total_tokens`, `cost_usd`, `latency_ms`.
        metadata: any other data about the record.
        provenance: origin of the record.
        check: verdict of a checker that ran earlier.

    Raises:
        TypeError: the id is not text, or one of the dicts is not a dict.
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
            from evalsi_protocol.steps import read_steps  # Imported late: only trajectories need it.

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
        """Return a record that wraps the wire's map. It is not validated again: the kernel did."""
        record = cls.__new__(cls)
        record.wire = wire
        return record

    @property
    def id(self) -> str:
        """The record's id, unique in the data and equal in all trials; "" if it was created without one."""
        identity: str = self.wire.get("record_id") or self.wire.get("id", "")
        return identity

    def has(self, field: str) -> bool:
        """Return whether the record has a field, such as "output" or "usage.latency_ms". Null counts as absent."""
        value: Any = self.wire
        for part in field.split("."):
            if not isinstance(value, dict):
                return False
            value = value.get(part)
        return value is not None

    @property
    def input(self) -> Content:
        """The question. Skips the record if it is missing."""
        try:
            return Content(self.wire["input"])
        except KeyError:
            raise MissingField("input") from None

    @property
    def output(self) -> Content:
        """The answer to score. Skips the record if it is missing. The text of a conversation is its last answer."""
        try:
            return Content(self.wire["output"], "output")
        except KeyError:
            raise MissingField("output") from None

    @property
    def output_text(self) -> str:
        """The answer as text: a faster `output.as_text()`.

        The text of chat messages is the last assistant message. Skips the record if there is none.
        """
        output = self.wire.get("output")
        return output if type(output) is str else self.output.as_text()

    @property
    def references(self) -> list[Content]:
        """The correct answers, at least one. Skips the record if there is none."""
        reference = self.wire.get("reference")
        if type(reference) is list:
            if reference:
                return [Content(item, "reference") for item in reference]
        elif reference is not None:
            return [Content(reference, "reference")]
        raise MissingField("reference")

    @property
    def reference_texts(self) -> list[str]:
        """The correct answers as text, at least one. Skips the record if there is none."""
        reference = self.wire.get("reference")
        return [reference] if type(reference) is str else [item.as_text() for item in self.references]

    @property
    def reference(self) -> Content:
        """The first correct answer. Skips the record if there is none."""
        return self.references[0]

    @property
    def context(self) -> list[Content]:
        """The texts that the answer may rely on, in order. Skips the record if it is missing; an empty list is not."""
        return [Content(item) for item in self._field("context")]

    @property
    def trajectory(self) -> list[dict[str, Any]]:
        """The steps of an agent, in order. Skips the record if it is missing."""
        steps: list[dict[str, Any]] = self._field("trajectory").get("steps", [])
        return steps

    @property
    def usage(self) -> dict[str, Any]:
        """Tokens, cost and latency, as far as known; empty if none is known."""
        usage: dict[str, Any] = self.wire.get("usage", {})
        return usage

    @property
    def metadata(self) -> dict[str, Any]:
        """Other data about the record; empty if there is none."""
        metadata: dict[str, Any] = self.wire.get("metadata", {})
        return metadata

    @property
    def provenance(self) -> dict[str, Any]:
        """Origin of the record; empty if unknown."""
        provenance: dict[str, Any] = self.wire.get("provenance", {})
        return provenance

    @property
    def check(self) -> dict[str, Any]:
        """The verdict of a checker that ran earlier. Skips the record if it is missing."""
        check: dict[str, Any] = self._field("check")
        return check

    def require_shown(self, *fields: str) -> None:
        """Skip the record if a field has an image, audio or a file, which a judge would not be shown.

        Judges receive only text. A missing field does not skip the record.

        Args:
            fields: the fields that the judge is shown, of "input", "output", "reference" and "context".

        Raises:
            Skip: a field has a part that its text leaves out.
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
            # An evaluator that mistakes the record for text would score 0 on every record.
            raise TypeError(f"A Record was compared with {shown(other)}. Compare record.output.as_text() with it.")
        return isinstance(other, Record) and self.wire == other.wire

    __hash__ = None  # type: ignore[assignment]


def require_shown(shown: Content, name: str) -> None:
    """Raise `Skip` if the text of the content leaves something out. `name` is the field, for the message."""
    unseen = shown.unseen()
    if unseen:
        raise Skip(f"the {name} holds {' and '.join(unseen)}, which judges are not shown")


def _any_of(reference: Any) -> Any:
    """Return the wire form of references. A list holds several references, except a list of chat messages."""
    if isinstance(reference, (list, tuple)) and not is_messages(reference):
        return _list_of(reference)
    return content(reference)


def _list_of(values: Any) -> list[Any]:
    """Return the wire form of a list of contents. A single value counts as a list of one; None is dropped."""
    items = values if isinstance(values, (list, tuple)) else [values]
    return [content(item) for item in items if item is not None]
