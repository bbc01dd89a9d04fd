"""A Python function as the target of a run, in a process of its own, so that no code of a user's can break the kernel.

It must not know what the function does.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.checking.toml_tables import Misfit
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.target import Bounds, Generated, TargetInput, TargetSettings

from .answers import generated, is_answer
from .child_process import Program
from .leash import Leash
from .line_process import LineProcess, LineSettings
from .template import plain
from .timed import AsDuration, InSeconds, Timed
from .waiting import retry_after_s

_TOO_MANY, _SERVER_ERROR = 429, 500
_NAME = re.compile(r"(?P<place>[^:\r\n]+\.py|[A-Za-z_]\w*(\.[A-Za-z_]\w*)*):[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def _named(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise Misfit(f'is "{name}", which names no function', "Write ./file.py:function or module:function.")
    return name


class FunctionOptions(Timed):
    """A Python function, which gets a record's input and returns the output."""

    function: Annotated[str, AfterValidator(_named)] = Field(
        description="./file.py:function, relative to the spec's file, or module:function"
    )
    timeout_s: InSeconds = 60.0
    timeout: AsDuration = None


class FunctionTarget:
    """The target.

    Raises:
        ConfigError: there is no such file.
    """

    model = ""
    provider = ""

    def __init__(self, settings: TargetSettings) -> None:
        options = FunctionOptions.model_validate(settings.options)
        self._whose = f"The function {options.function}"
        self.identity: Mapping[str, Any] = {
            "connector": settings.connector,
            "function": options.function,
            **_source(settings.folder, options.function),
        }
        self._leash = Leash()
        argv = [
            sys.executable,
            "-P",
            str(Path(__file__).with_name("function_worker.py")),
            options.function,
            str(settings.max_in_flight),
            str(os.getpid()),
        ]
        program = Program(argv, str(settings.folder.absolute()), dict(os.environ))
        hint = "What it wrote to stderr says more."
        self._process = LineProcess(program, self._leash, LineSettings(self._whose, options.timeout_s, True, hint))

    def bounds(self, given: TargetInput) -> Bounds:
        """Unknown: a function does not say beforehand what it takes."""
        return Bounds()

    async def generate(self, given: TargetInput) -> Generated:
        """Call it once."""
        key = (given.record["id"], given.trial)
        answer, waited_s = await self._process.ask(key, {"record": plain(given.record), "trial": given.trial})
        if answer.get("error") is not None:
            raise _raised(self._whose, answer["error"])
        returned = answer["returned"]
        made = generated(returned if is_answer(returned) else {"output": returned}, self._whose)
        return made._replace(waited_s=waited_s)

    async def close(self) -> None:
        """End its process."""
        try:
            await self._process.close()
        finally:
            await self._leash.close()


def _raised(whose: str, error: Mapping[str, Any]) -> ProviderError:
    """What the function raised; a refusal of a service that it asked is met as if the run had asked."""
    raised = f"raised {error['type']}" if error["type"] else "failed"
    message = f"{whose} {raised}{': ' if error['message'] else ''}{error['message'].rstrip('.')}."
    hint = "What it wrote to stderr says more."
    status = error.get("status") or 0
    if status == _TOO_MANY:
        wait_s = retry_after_s(error.get("retry_after"))
        return ProviderError("provider.rate_limited", message, hint, retry="later", retry_after_s=wait_s)
    if status >= _SERVER_ERROR:
        return ProviderError("provider.failed", message, hint, retry="later")
    if error.get("unreachable"):
        return ProviderError("provider.connection", message, hint, retry="later")
    return ProviderError("target.failed", message, hint)


def _source(folder: Path, function: str) -> dict[str, str]:
    """What tells one state of the function's file from another, where it is a file beside the spec."""
    place = function.rpartition(":")[0]
    if place.endswith(".py"):
        path = folder / place
        if not path.is_file():
            raise ConfigError(
                f"spec.target.function names {place}, and there is no such file in {folder.absolute()}.",
                "Write its path as it is from the spec's file.",
            )
        return {"sha256": _digest(path)}
    module = folder.joinpath(*place.split("."))
    for path in (module.with_name(f"{module.name}.py"), module / "__init__.py"):
        if path.is_file():
            return {"sha256": _digest(path)}
    return {}


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.", "Check its permissions.") from error
