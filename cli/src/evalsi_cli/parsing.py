"""An argument parser that says "did you mean", and exits with 2 as argparse does.

It must not know any command.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn


class _Unmeasured(argparse.RawDescriptionHelpFormatter):
    """Checks each flag that is added. It does not look how wide the terminal is: that loads `shutil`, for 2 ms."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80)


class _Measured(argparse.RawDescriptionHelpFormatter):
    """Leaves room for the longest command, which argparse measures without its indent and puts on a line of its own."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += self._indent_increment


class Parser(argparse.ArgumentParser):
    """argparse without abbreviations, which would make a new flag break an old script."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", _Unmeasured)
        super().__init__(allow_abbrev=False, **options)
        self._words: list[str] = []

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """As argparse, but an unknown flag is met with the nearest known one."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = self._command(getattr(options, "command", None)) or self
            parser = parser._command(getattr(options, "action", None)) or parser
            parser.error(f"there is no {unknown[0]!r} here. {parser.nearest(unknown[0])}".rstrip())
        return options

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """As argparse; the words are kept for the message about a mistake."""
        self._words = list(args or ())
        return super().parse_known_args(args, namespace)

    def format_usage(self) -> str:
        self.formatter_class = _Measured
        return super().format_usage()

    def format_help(self) -> str:
        self.formatter_class = _Measured
        return super().format_help()

    def nearest(self, word: str) -> str:
        """A "did you mean" for a flag."""
        import difflib  # 10 ms that only a mistake pays.

        known = [option for action in self._actions for option in action.option_strings]
        close = difflib.get_close_matches(word.split("=", maxsplit=1)[0], known, 1)
        return f"Did you mean {close[0]}?" if close else f"`{self.prog} --help` lists what there is."

    def error(self, message: str) -> NoReturn:
        """Print the mistake without the whole usage, and exit with 2."""
        import difflib

        if "invalid choice" in message and "'" in message:
            word = message.split("'")[1]
            argument = message.removeprefix("argument ").partition(":")[0]
            choosing = [action for action in self._actions if action.choices]
            meant = [action for action in choosing if argument == "/".join(action.option_strings)] or choosing
            known = [name for action in meant for name in action.choices or ()]
            close = difflib.get_close_matches(word, known, 1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Choose one of {', '.join(map(str, known))}."
            message = f"there is no {word!r}. {hint}"
        elif message.startswith("the following arguments are required") and (unknown := self._unknown_flag()):
            # A misspelt flag is why a required one is missing.
            message = f"there is no {unknown!r} here. {self.nearest(unknown)}"
        self.exit(2, f"error: {message}\n`{self.prog} --help` shows the usage.\n")

    def _unknown_flag(self) -> str | None:
        """The first flag among the words that the parser does not know."""
        known = {option for action in self._actions for option in action.option_strings}
        flags = (word.split("=", maxsplit=1)[0] for word in self._words if word.startswith("--") and word != "--")
        return next((flag for flag in flags if flag not in known), None)

    def _command(self, name: str | None) -> Parser | None:
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction) and name in action.choices:
                found: Parser = action.choices[name]
                return found
        return None


def first_word(words: Sequence[str]) -> str | None:
    """The command that the words begin with, as far as one is there; what a flag stands before is no command's run."""
    return words[0] if words and not words[0].startswith("-") else None
