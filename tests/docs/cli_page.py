"""docs/reference/cli.md, from the parsers of the command, those of the installed extensions among them.

It must not know a command; a command that is new is on the page by itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from evalsi_cli.main import build_parser
from tests.docs.markdown import WRITTEN, code, joined, table

HEAD = """\
# Commands

{written}

`evalsi COMMAND --help` shows the same. `evalsid` is another name for `evalsi`.
See also [exit codes](exit-codes.md) and [environment variables](environment-variables.md).
"""


def page() -> str:
    """The whole page."""
    return joined([HEAD.format(written=WRITTEN.format(source="evalsi_cli")), *_sections()])


def command_parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, with its flags; of a command of several actions, the parser of each action."""
    parsers: dict[str, argparse.ArgumentParser] = {}
    for name in _choices(build_parser()):
        command = _choices(build_parser(name))[name]
        actions = _choices(command)
        parsers |= {f"{name} {action}": parser for action, parser in actions.items()} or {name: command}
    return parsers


def _choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return {
        name: choice
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, choice in action.choices.items()
    }


def arguments_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Flags and arguments of a command, but `--help`."""
    return [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]


def _sections() -> Iterator[str]:
    for name, parser in command_parsers().items():
        arguments = arguments_of(parser)
        yield from (f"## evalsi {name}", "", parser.description or "", "", f"`evalsi {name}{_usage(arguments)}`", "")
        if arguments:
            yield from table(("argument", "takes", "default", "what it does"), map(_row, arguments))
            yield ""


def _usage(arguments: list[argparse.Action]) -> str:
    needed = [f" {_name(one)} {_takes(one)}".rstrip() for one in arguments if one.option_strings and one.required]
    others = " [FLAGS]" if any(one.option_strings and not one.required for one in arguments) else ""
    words = [f" {_word(one)}" for one in arguments if not one.option_strings]
    return "".join([*words, *needed, others])


def _word(action: argparse.Action) -> str:
    """A word as the usage shows it: in brackets where it may be left out, with dots where more may follow."""
    word = f"{_name(action)} …" if action.nargs in ("*", "+") else _name(action)
    return word if _is_required(action) else f"[{word}]"


def _is_required(action: argparse.Action) -> bool:
    # argparse counts a list of words as required, though it may be empty.
    return action.required and action.nargs != "*"


def _row(action: argparse.Action) -> tuple[str, str, str, str]:
    # The help repeats a default, which has a column here.
    says = (action.help or "").removesuffix(f" ({action.default})")
    names = ", ".join(code(one) for one in action.option_strings or [_name(action)])
    return names, _takes_in_table(action), _default(action), says


def _name(action: argparse.Action) -> str:
    return max(action.option_strings, key=len) if action.option_strings else action.dest.upper()


def _takes(action: argparse.Action) -> str:
    if action.nargs == 0 or not action.option_strings:
        return ""
    return str(action.metavar or "")


def _takes_in_table(action: argparse.Action) -> str:
    taken = ", ".join(code(str(choice)) for choice in action.choices) if action.choices else code(_takes(action))
    return f"{taken}, any number of times" if isinstance(action, argparse._AppendAction) else taken


def _default(action: argparse.Action) -> str:
    if _is_required(action):
        return "required"
    # Of two flags that exclude each other neither is the default.
    return "" if action.nargs == 0 or action.default in (None, False, []) else code(str(action.default))
