"""A command as the target of a run: a process for each record, or one that answers many in JSON lines.

It must not know what the command does.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
from collections.abc import Mapping
from typing import Any

from evalsi_kernel.broker.ask import NO_TOKENS
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.target import Bounds, Generated, TargetInput, TargetSettings

from .answers import generated
from .child_process import ChildProcess, Program, ending
from .command_options import CommandOptions
from .command_program import program_of, state_of_files
from .leash import Leash
from .line_process import LineProcess, LineSettings
from .quoting import excerpt, last_lines, on_one_line
from .reply_paths import found_at
from .template import as_text, filled, in_text, plain, value_at

MAX_OUTPUT_BYTES = 32 * 2**20
_SHOWN_CHARS = 60


_TEMPORARY = (os.EX_UNAVAILABLE, os.EX_TEMPFAIL)
"""Exit codes 69 and 75 of sysexits.h: a service is not there, or another try may help."""


class Command:
    """What both modes share: their options, their program, their identity.

    Raises:
        ConfigError: the program is not there, or a variable is not set.
    """

    model = ""
    provider = ""

    def __init__(self, settings: TargetSettings, options: CommandOptions) -> None:
        self.options = options
        self.program = program_of(options, settings.folder)
        self.leash = Leash()
        words = options.command if isinstance(options.command, str) else shlex.join(options.command)
        self.whose = f"The command {on_one_line(words, _SHOWN_CHARS)}"
        how = options.model_dump(exclude={"timeout_s"}, exclude_none=True)
        files = state_of_files(options.words, settings.folder)
        self.identity: Mapping[str, Any] = {"connector": settings.connector, **how, "sha256": files}

    def bounds(self, given: TargetInput) -> Bounds:
        """Unknown: a command does not say beforehand what it takes."""
        return Bounds()


class CommandPerRecord(Command):
    """The target that starts a process for each record: input on stdin, output on stdout, exit code 0."""

    async def generate(self, given: TargetInput) -> Generated:
        """Run it once."""
        options = self.options
        record = given.record
        sent = (
            json.dumps(plain(record), ensure_ascii=False)
            if options.input == "json"
            else in_text(value_at(record, "input"))
        )
        argv = [self.program.argv[0], *(self._filled(word, record) for word in self.program.argv[1:])]
        output = await self._run(self.program._replace(argv=argv), sent.encode())
        if options.output_path is None:
            return generated({"output": self._text(output)}, self.whose)
        return generated(
            {"output": found_at(self._json(output), options.output_path, "output_path", self.whose)}, self.whose
        )

    async def close(self) -> None:
        """End what a process left running."""
        await self.leash.close()

    def _filled(self, word: str, record: Mapping[str, Any]) -> str:
        argument = filled(word, record)
        if "\0" in argument:
            raise ProviderError(
                "target.input",
                "A value has a character of no value (NUL) in it, which no argument may have.",
                "Take the input from stdin.",
                source="record",
                tokens=NO_TOKENS,
            )
        return argument

    async def _run(self, program: Program, sent: bytes) -> bytes:
        output = _Output()
        try:
            child = await self.leash.start(program, output.take, is_echoed=False)
        except OSError as error:
            raise ProviderError(
                "target.failed",
                f"{self.whose} cannot be started: {error.strerror or error}.",
                "Take a long input from stdin instead of an argument.",
            ) from error
        output.on_too_long = child.kill
        child.write(sent)
        child.end_input()
        try:
            async with asyncio.timeout(self.options.timeout_s):
                code = await asyncio.shield(child.gone)
        except TimeoutError:
            raise ProviderError(
                "target.timeout",
                f"{self.whose} did not end within {self.options.timeout_s:g} seconds and was ended.{_said(child)}",
                "Raise spec.target.timeout_s, or find out where it hangs.",
            ) from None
        finally:
            child.kill()
        if output.is_too_long:
            raise ProviderError(
                "target.output",
                f"{self.whose} wrote more than {MAX_OUTPUT_BYTES // 2**20} MiB, which is not read on.",
                "Have it write less.",
            )
        if code in _TEMPORARY:
            message = f"{self.whose} {ending(code)}, a temporary failure.{_said(child)}"
            raise ProviderError("provider.failed", message, "See what the command needs.", retry="later")
        if code != 0:
            raise ProviderError("target.failed", f"{self.whose} {ending(code)}.{_said(child)}", "Correct the command.")
        return b"".join(output.parts)

    def _text(self, output: bytes) -> str:
        try:
            # The end of the last line is the terminal's, not the answer's.
            return output.decode().removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as cause:
            raise ProviderError(
                "target.output", f"{self.whose} wrote what is no UTF-8.", "Have it write text in UTF-8."
            ) from cause

    def _json(self, output: bytes) -> Any:
        try:
            return json.loads(output)
        except (ValueError, RecursionError) as cause:
            raise ProviderError(
                "target.output",
                f"{self.whose} wrote what is no JSON: {excerpt(output)}.",
                "Have it write JSON alone to stdout, or leave output_path out.",
            ) from cause


class CommandInLines(Command):
    """The target whose one process reads a call a line and writes an answer a line, in any order."""

    def __init__(self, settings: TargetSettings, options: CommandOptions) -> None:
        super().__init__(settings, options)
        hint = 'Have it write {"id": …, "output": …} alone to stdout, a line each, and everything else to stderr.'
        told = LineSettings(self.whose, options.timeout_s, False, hint)
        self._process = LineProcess(self.program, self.leash, told)

    async def generate(self, given: TargetInput) -> Generated:
        """Ask it once."""
        record = plain(given.record)
        asked = {"record": record} if self.options.input == "json" else {"input": value_at(record, "input")}
        key = (record["id"], given.trial)
        answer, waited_s = await self._process.ask(key, {**asked, "trial": given.trial})
        if answer.get("error") is not None:
            said = on_one_line(as_text(answer["error"])).rstrip(".")
            raise ProviderError("target.failed", f"{self.whose} says: {said}.", "Correct the command.")
        if "output" not in answer:
            names = ", ".join(map(str, answer)) or "nothing"
            raise ProviderError(
                "target.output",
                f"{self.whose} answered without output, only with {on_one_line(names)}.",
                "Have it give output.",
            )
        return generated(answer, self.whose)._replace(waited_s=waited_s)

    async def close(self) -> None:
        """End its process."""
        try:
            await self._process.close()
        finally:
            await self.leash.close()


class _Output:
    """What a process writes, up to a bound."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.is_too_long = False
        self.on_too_long: Any = None
        self._size = 0

    def take(self, data: bytes) -> None:
        """Keep it, or have the process ended."""
        if self.is_too_long:
            return
        self.parts.append(data)
        self._size += len(data)
        if self._size > MAX_OUTPUT_BYTES:
            self.is_too_long = True
            self.parts.clear()
            if self.on_too_long is not None:
                self.on_too_long()


def _said(child: ChildProcess) -> str:
    said = last_lines(child.stderr_tail)
    return f' It wrote: "{said}"' if said else ""


def command_target(settings: TargetSettings) -> CommandPerRecord | CommandInLines:
    """The target of the mode that the options name."""
    options = CommandOptions.model_validate(settings.options)
    return CommandInLines(settings, options) if options.mode == "lines" else CommandPerRecord(settings, options)
