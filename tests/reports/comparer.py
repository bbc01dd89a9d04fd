"""What the command `evalsi report` asks of the differences between two files."""

from evalsi_cli.toolkit import Toolkit
from evalsi_reports.judged import comparer

COMPARER = comparer(Toolkit())
