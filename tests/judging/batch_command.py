"""`python tests/judging/batch_command.py MOST POLL_S eval …`: the command, with batches of so many questions.

A batch is handed in when it is full and asked after every POLL_S seconds, so that a test knows where the command is.
"""

from __future__ import annotations

import sys

from evalsi_batches import plugin
from evalsi_batches.following import BatchTimes
from evalsi_cli.main import main
from evalsi_kernel.broker.connector import Connector, ConnectorSettings
from evalsi_kernel.evaluation import broker_opening
from evalsi_kernel.extensions.hook_calls import connector
from evalsi_kernel.extensions.installed import Extensions

most, poll_s = int(sys.argv[1]), float(sys.argv[2])


def with_most(settings: ConnectorSettings, extensions: Extensions) -> Connector:
    """The connector, whose batches hold at most so many questions."""
    made = connector(settings, extensions)
    setattr(made, "max_batch_asks", most)  # noqa: B010 -- not every connector has it.
    return made


if __name__ == "__main__":
    plugin.TIMES = BatchTimes(3600.0, poll_s=poll_s, longest_poll_s=poll_s)
    setattr(broker_opening, "connector", with_most)  # noqa: B010 -- it is imported there.
    del sys.argv[1:3]
    sys.exit(main())
