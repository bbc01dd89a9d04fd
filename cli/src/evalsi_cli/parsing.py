"""An argument parser with "did you mean" hints. Exits with 2, as argparse does."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn


class _Unmeasured(argparse.RawDescriptionHelpFormatter):
    """A formatter with a fixed width: reading the terminal's width imports `shutil`, which takes 2 ms."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80)


class _Measured(argparse.RawDescriptionHelpFormatter):
    """A formatter that keeps the help of the longest command on its line: argparse ignores its indentation."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += self._indent_increment


class Parser(argparse.ArgumentParser):
    """An argparse parser without abbreviated flags, which could break scripts when a flag is added."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", _Unmeasured)
        super().__init__(allow_abbrev=False, **options)
        self._words: list[str] = []

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse arguments as argparse does. For an unknown flag, suggest the closest known one."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = self._command(getattr(options, "command", None)) or self
            parser = parser._command(getattr(options, "action", None)) or parser
            parser.error(f"there is no {unknown[0]!r} here. {parser.nearest(unknown[0])}".rstrip())
        return options

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse arguments as argparse does, and keep the words for error messages."""
        self._words = list(args or ())
        return super().parse_known_args(args, namespace)

    def format_usage(self) -> str:
        self.formatter_class = _Measured
        return super().format_usage()

    def format_help(self) -> str:
        self.formatter_class = _Measured
        return super().format_help()

    def nearest(self, word: str) -> str:
        """Return a "did you mean" hint for an unknown flag."""
        import difflib  # Imported late: it takes 10 ms, and only errors need it.

        known = [option for action in self._actions for option in action.option_strings]
        close = difflib.get_close_matches(word.split("=", maxsplit=1)[0], known, 1)
        return f"Did you mean {close[0]}?" if close else f"`{self.prog} --help` lists the flags."

    def error(self, message: str) -> NoReturn:
        """Print the error without the whole usage, and exit with 2."""
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
            # The required flag is missing because it is misspelled.
            message = f"there is no {unknown!r} here. {self.nearest(unknown)}"
        self.exit(2, f"error: {message}\n`{self.prog} --help` shows the usage.\n")

    def _unknown_flag(self) -> str | None:
        """Return the first unknown flag among the words."""
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
    """Return the command at the start of the words; None if they start with a flag or are empty."""
    return words[0] if words and not words[0].startswith("-") else None
