"""The keys of a command in a spec.

It must not know how it is run.
"""

from __future__ import annotations

import re
import shlex
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from evalsi_kernel.checking.toml_tables import FilledLine, Misfit

from .reply_paths import ReplyPath
from .spec_secrets import check_variables
from .template import PLACE, check_names
from .timed import AsDuration, InSeconds, Timed

_VARIABLE = re.compile(r"[A-Za-z_]\w*")


def _words(value: Any) -> Any:
    """Refuse in one sentence what is neither of the two forms."""
    if isinstance(value, str) or (isinstance(value, list) and all(isinstance(word, str) for word in value)):
        return value
    raise Misfit("must be one text, or a list of texts", "Put every part in quotes.")


def _names(value: list[str]) -> list[str]:
    for name in value:
        if not _VARIABLE.fullmatch(name):
            raise Misfit(f'has "{name}", which is no name of a variable')
    return value


class CommandOptions(Timed):
    """A program, which gets a record's input and writes the output."""

    command: Annotated[list[str] | str, BeforeValidator(_words)] = Field(
        description="the program and its arguments, a list or one text; {{input}} in an argument is filled"
    )
    shell: bool = Field(default=False, description="a shell reads the text, which then has no places")
    mode: Literal["per-record", "lines"] = Field(
        default="per-record", description="a process for each record, or one that answers JSON lines with JSON lines"
    )
    input: Literal["text", "json"] = Field(
        default="text", description="what it reads: the input, or the whole record as JSON"
    )
    output_path: ReplyPath | None = Field(
        default=None, description="where the output is in the JSON that it writes; else all that it writes is"
    )
    env: dict[str, str] = Field(default_factory=dict, description="variables that it gets; no secrets")
    env_from: list[FilledLine] = Field(default_factory=list, description="variables that it gets as they are here")
    timeout_s: InSeconds = 60.0
    timeout: AsDuration = None

    @field_validator("command")
    @classmethod
    def _is_command(cls, command: list[str] | str) -> list[str] | str:
        if not command or not command[0].strip():
            raise Misfit("names no program")
        for word in [command] if isinstance(command, str) else command:
            check_names(word)
        if any("\0" in word for word in command):
            raise Misfit("has a character of no value (NUL) in it")
        if isinstance(command, str):
            try:
                shlex.split(command)
            except ValueError as cause:
                raise Misfit(f"cannot be cut into words: {cause}", "Write it as a list.") from None
        return command

    @field_validator("env")
    @classmethod
    def _are_variables(cls, env: dict[str, str]) -> dict[str, str]:
        _names(list(env))
        check_variables(env)
        return env

    @field_validator("env_from")
    @classmethod
    def _are_names(cls, env_from: list[str]) -> list[str]:
        return _names(env_from)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        words = self.words
        has_places = any(PLACE.search(word) for word in words)
        if self.shell and not isinstance(self.command, str):
            raise Misfit("has shell: true, and its command is a list", "Write the command as one text.")
        if self.shell and has_places:
            raise Misfit(
                "has a place in a command that a shell reads, which would run what a record says",
                "Take the input from stdin, or write the command as a list without shell.",
            )
        if PLACE.search(words[0]):
            raise Misfit("lets a record say which program is run", "Put places behind the program only.")
        if self.mode == "lines" and has_places:
            raise Misfit("has a place in its command, and mode: lines starts it once", "Take the input from its stdin.")
        if self.mode == "lines" and self.output_path is not None:
            raise Misfit(
                "has an output_path, and mode: lines answers with output", 'Have it write {"id": …, "output": …}.'
            )
        return self

    @property
    def words(self) -> list[str]:
        """The program and its arguments."""
        if isinstance(self.command, list):
            return self.command
        return ["/bin/sh", "-c", self.command] if self.shell else shlex.split(self.command)
