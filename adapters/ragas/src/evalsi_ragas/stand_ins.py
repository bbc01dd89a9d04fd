"""Modules that RAGAS imports and that no metric uses, so that the environment need not hold them.

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
