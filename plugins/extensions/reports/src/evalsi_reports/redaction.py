"""Owns what `--redact` takes away, where a results file is read, so that no form of a report can show it.

It must not know a form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsi_kernel.errors import UsageError
from evalsi_protocol.error_codes import ERROR_CODES

from .values import one_object

if TYPE_CHECKING:
    from .head import Head

WITHHELD = "withheld by --redact"
PARTS = ("inputs", "outputs")
# These quote inputs and outputs, or are made of them.
_QUOTING = ("reference", "context", "trajectory", "check")
_ENTRY = Mapping[str, Any]


class Redaction(NamedTuple):
    """What nobody is to see.

    Args:
        inputs, outputs: those of the records; with either goes all that may quote them.
        keeps_metadata: whether the records' metadata, and slices by it, stay.
    """

    inputs: bool = False
    outputs: bool = False
    keeps_metadata: bool = False

    @property
    def any(self) -> bool:
        """Whether anything is withheld."""
        return self.inputs or self.outputs

    @property
    def by_list(self) -> Mapping[str, Callable[[_ENTRY], _ENTRY | None]]:
        """For each list of a results file, what of an element may be seen; None for nothing."""
        if not self.any:
            return {"results": _same, "records": _same, "judge_replies": _same}
        return {"results": _result, "records": self._record, "judge_replies": _nothing}

    def of_head(self, head: Head) -> Head:
        """What of the head may be seen."""
        if not self.any:
            return head
        manifest = {key: value for key, value in head.manifest.items() if key != "spec"}
        if manifest.get("error"):
            manifest["error"] = _error(manifest["error"])
        if isinstance(manifest.get("target"), dict):
            manifest["target"] = {key: value for key, value in manifest["target"].items() if "prompt" not in key}
        return head._replace(manifest=manifest, slices=head.slices if self.keeps_metadata else ())

    def _record(self, record: _ENTRY) -> _ENTRY:
        hidden = {*_QUOTING, "provenance"}
        hidden |= {"input"} if self.inputs else set()
        hidden |= {"output"} if self.outputs else set()
        hidden |= set() if self.keeps_metadata else {"metadata"}
        shown = {key: value for key, value in record.items() if key not in hidden}
        run = one_object(record.get("provenance")).get("run")
        if isinstance(run, dict):
            error = run.get("error")
            shown["provenance"] = {"run": {"trial": run.get("trial"), "error": error and _error(error)}}
        return shown


def parse_redaction(words: str | None, *, keeps_metadata: bool) -> Redaction:
    """Read `--redact`; None means that it was not given.

    Raises:
        UsageError: a part is unknown, or metadata is kept where nothing is withheld.
    """
    if words is None:
        if keeps_metadata:
            raise UsageError("--keep-metadata is of use only with --redact.", "Add --redact, or leave it out.")
        return Redaction()
    parts = [part.strip() for part in words.split(",")]
    for part in parts:
        if part not in PARTS:
            raise UsageError(
                f"--redact takes {' and '.join(PARTS)}, and {part!r} is neither.",
                "Write --redact for both, behind the results file, or --redact=inputs or --redact=outputs.",
            )
    return Redaction("inputs" in parts, "outputs" in parts, keeps_metadata)


def _same(entry: _ENTRY) -> _ENTRY:
    return entry


def _nothing(entry: _ENTRY) -> None:
    return None


def _result(result: _ENTRY) -> _ENTRY:
    shown = {key: value for key, value in result.items() if key not in ("scores", "reason", "error", "judge_calls")}
    if isinstance(result.get("scores"), list):
        shown["scores"] = [
            {key: value for key, value in score.items() if key not in ("explanation", "metadata")}
            for score in result["scores"]
            if isinstance(score, dict)
        ]
    if "reason" in result:
        shown["reason"] = WITHHELD
    if "error" in result:
        shown["error"] = _error(result["error"])
        shown["reason"] = shown["error"]["message"]
    return shown


def _error(error: Any) -> dict[str, Any]:
    """An error without its words, which may quote anything: its code, and what the registry says of it."""
    told = error if isinstance(error, dict) else {}
    code = str(told.get("code", ""))
    known = ERROR_CODES.get(code)
    meaning = known.meaning if known is not None else "The message is withheld by --redact."
    return {"code": code, "message": meaning, "hint": "", "source": told.get("source"), "retry": told.get("retry")}
