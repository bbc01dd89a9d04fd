"""`python -m evalsi_cli`: the command where only its distribution is installed."""

from evalsi_cli.entry import run_and_exit

run_and_exit()
