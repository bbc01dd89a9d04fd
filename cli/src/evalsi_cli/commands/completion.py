"""`evalsi completion bash`: the script that lets a shell complete commands, flags and evaluators."""

from __future__ import annotations

import argparse

from evalsi_cli.faults import OK

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that reads the script")
    parser.epilog = 'bash: eval "$(evalsi completion bash)"\nfish: evalsi completion fish | source'


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from argcomplete.shell_integration import shellcode

    shell = "bash" if options.shell == "zsh" else options.shell
    print(shellcode(["evalsi", "evalsid"], shell=shell))
    return OK
