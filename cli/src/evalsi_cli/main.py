"""`evalsi`: finds the command, loads only that one, and turns every fault into a sentence and an exit code.

It must not know what a command does.
"""

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

# The name, the module that holds it, and the line that --help shows.
COMMANDS = {
    "eval": ("evalsi_cli.commands.eval", "score outputs that exist"),
    "catalog": ("evalsi_cli.commands.catalog", "list evaluators, what they need and their params"),
    "doctor": ("evalsi_cli.commands.doctor", "check this machine and the packs"),
    "completion": ("evalsi_cli.commands.completion", "print the shell's completion script"),
    "version": ("evalsi_cli.commands.version", "print the version"),
}
# What tends the tool itself is listed after what extensions bring.
UPKEEP = ("doctor", "completion", "version")


def run_and_exit() -> NoReturn:
    """The installed command: run, flush, and leave without tearing down what the system takes back anyway."""
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
            # Told before, as far as it could be.
            code = code or 1
    # What is still to be ended, such as the process of a reader that was silent when Ctrl-C came.
    atexit._run_exitfuncs()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 fine, 1 an error, 2 wrong usage, 130 interrupted, 141 a closed pipe."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    make_streams_usable()
    try:
        code = exit_code_of(lambda: _run(words))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read us has enough. Python would complain again at exit, so stdout goes nowhere from here.
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
        words = ["version", *words[1:]]  # As other tools have it.
    is_completing = "_ARGCOMPLETE" in os.environ
    # While the shell completes, what was typed so far stands there and not among the arguments.
    parser = build_parser(first_word(os.environ.get("COMP_LINE", "").split()[1:] if is_completing else words))
    if is_completing:
        import argcomplete  # Only while the shell completes.

        argcomplete.autocomplete(parser)
    options = parser.parse_args(words)
    if options.command is None:
        parser.print_help()
        return 0
    code: int = options.run(options)
    return code


def build_parser(only: str | None = None) -> Parser:
    """The parser of all commands, or of `only` one of ours; of that one the flags are loaded too."""
    parser = Parser(prog="evalsi", description="One tool that answers: how good is it?", epilog=EPILOG)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (summary, load) in _commands(only).items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == only:
            loaded = load()
            loaded.configure(command)
            command.set_defaults(run=loaded.run)
    return parser


def _commands(only: str | None) -> dict[str, tuple[str, Callable[[], Any]]]:
    """The line that --help shows for each command, and what loads it, in the order of --help."""
    own = {name: (summary, partial(importlib.import_module, module)) for name, (module, summary) in COMMANDS.items()}
    if only is not None and only in own:
        # Each parser is a quarter of a millisecond; the others could only be listed.
        return {only: own[only]}
    # Only who asks for all there is, or for what is not here, pays for the index of extensions.
    from evalsi_cli.extension_commands import extension_commands, load_command

    brought = {name: (summary, partial(load_command, name)) for name, summary in extension_commands().items()}
    upkeep = {name: own.pop(name) for name in UPKEEP}
    # A name of ours stays ours.
    return {**own, **brought, **own, **upkeep}


EPILOG = "`evalsi COMMAND --help` shows a command's flags. `evalsid COMMAND` is the same."
