"""`python -m evalsi_cli`: run the command without the `evalsi` script."""

from evalsi_cli.entry import run_and_exit

run_and_exit()
