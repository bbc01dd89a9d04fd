"""What RAGAS brings along and no metric uses: a library that is left out, and a reporter that is switched off.

RAGAS takes one class from `datasets` to tell a data set of the Hub from its own; `datasets` would bring pyarrow and
pandas, 300 MB and a second of every start.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType


class Dataset:
    """What no object here is an instance of."""


def put_in_place() -> None:
    """Let `from datasets import Dataset` work where there is no such library; where there is one it is left alone."""
    if "datasets" not in sys.modules and find_spec("datasets") is None:
        stand_in = ModuleType("datasets", __doc__)
        vars(stand_in)["Dataset"] = Dataset
        sys.modules["datasets"] = stand_in


def switch_off(analytics: ModuleType) -> None:
    """Keep RAGAS' reporter, `ragas._analytics`, from making an id of its user in a file, and end its thread.

    It does both also where it is told not to report. Where there is no folder it takes an id from the air.
    """
    vars(analytics)["user_data_dir"] = _nowhere
    analytics._analytics_batcher.shutdown()


def _nowhere(appname: str) -> str:
    raise OSError(f"There is no folder for {appname} here.")
