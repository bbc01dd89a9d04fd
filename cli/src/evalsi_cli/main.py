"""The `evalsi` command line: find the command, import only that one, and run it."""

from __future__ import annotations

import atexit
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from evalsi_cli.faults import exit_code_of
from evalsi_cli.parsing import Parser, first_word
from evalsi_cli.terminal import make_streams_usable

CLOSED_PIPE = 141

# Name → module and line of --help.
COMMANDS = {
    "eval": ("evalsi_cli.commands.eval", "score existing outputs"),
    "catalog": ("evalsi_cli.commands.catalog", "list evaluators, their needs and params"),
    "doctor": ("evalsi_cli.commands.doctor", "check this machine and the packs"),
    "completion": ("evalsi_cli.commands.completion", "print the shell's completion script"),
    "version": ("evalsi_cli.commands.version", "print the version"),
}
# Commands about the tool itself are listed last, after those of extensions.
UPKEEP = ("doctor", "completion", "version")


def run_and_exit() -> NoReturn:
    """Run the command, flush the streams, and exit without Python's slow teardown."""
    try:
        code = main()
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            code = CLOSED_PIPE
        except OSError:
            # `main` already reported it, if that was possible.
            code = code or 1
    # os._exit skips exit handlers, which may stop child processes such as a reader.
    atexit._run_exitfuncs()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Return the exit code: 0 success, 1 error, 2 wrong usage, 130 interrupted, 141 closed pipe."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    make_streams_usable()
    try:
        code = exit_code_of(lambda: _run(words))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader closed the pipe. Redirect stdout, because Python would report the error again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except OSError as error:
        print(f"error: Standard output cannot be written: {error.strerror}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


def _run(words: list[str]) -> int:
    if words[:1] == ["--version"]:
        words = ["version", *words[1:]]
    is_completing = "_ARGCOMPLETE" in os.environ
    # During completion the words are in COMP_LINE and not in the arguments.
    parser = build_parser(first_word(os.environ.get("COMP_LINE", "").split()[1:] if is_completing else words))
    if is_completing:
        import argcomplete  # Imported late: only completion needs it.

        argcomplete.autocomplete(parser)
    options = parser.parse_args(words)
    if options.command is None:
        parser.print_help()
        return 0
    code: int = options.run(options)
    return code


def build_parser(only: str | None = None) -> Parser:
    """Return the parser of all commands, or only of one built-in command. The flags of `only` are added."""
    parser = Parser(prog="evalsi", description="Evaluate AI systems: how good is it?", epilog=EPILOG)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (summary, load) in _commands(only).items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == only:
            loaded = load()
            loaded.configure(command)
            command.set_defaults(run=loaded.run)
    return parser


def _commands(only: str | None) -> dict[str, tuple[str, Callable[[], Any]]]:
    """Return name → line of --help and a function that imports the command, in the order of --help."""
    own = {name: (summary, partial(importlib.import_module, module)) for name, (module, summary) in COMMANDS.items()}
    if only is not None and only in own:
        # Each parser takes 0.25 ms, and the others would only be listed.
        return {only: own[only]}
    # The index of extensions is needed only for help and for commands that are not built in.
    from evalsi_cli.extension_commands import extension_commands, load_command

    brought = {name: (summary, partial(load_command, name)) for name, summary in extension_commands().items()}
    upkeep = {name: own.pop(name) for name in UPKEEP}
    # Built-in commands take precedence over extensions.
    return {**own, **brought, **own, **upkeep}


EPILOG = "`evalsi COMMAND --help` shows a command's flags. `evalsid COMMAND` is the same."
