"""Import of the harness for scoring: quiet, offline, and at first use."""

from __future__ import annotations

import logging
import os
from functools import cache
from typing import Any, NamedTuple

from evalsi_lm_eval.stand_in import put_in_place

_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_EVALUATE_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "DISABLE_MULTIPROC": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


class Harness(NamedTuple):
    """What is used of the harness.

    Args:
        task: its class of tasks that a config describes.
        instance: its class of requests, which hold responses.
        load_yaml: reads the file of a task, with what it includes.
        filters: its filters by name.
        metrics: its metrics by name.
        aggregations: its aggregations by name.
        of_metric: the aggregation that each metric has by itself.
        higher_is_better: by metric.
        folder: where its own tasks lie.
    """

    task: Any
    instance: Any
    load_yaml: Any
    filters: Any
    metrics: Any
    aggregations: Any
    of_metric: Any
    higher_is_better: Any
    folder: str


@cache
def harness() -> Harness:
    """The harness, imported at the first call."""
    os.environ.update(_OFFLINE)
    put_in_place()
    # Its warnings tell of configs that the adapter wrote itself.
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    import lm_eval.filters
    import lm_eval.tasks
    from lm_eval.api import registry
    from lm_eval.api.instance import Instance
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks._yaml_loader import load_yaml

    return Harness(
        ConfigurableTask,
        Instance,
        load_yaml,
        registry.FILTER_REGISTRY,
        registry.METRIC_REGISTRY,
        registry.AGGREGATION_REGISTRY,
        registry.METRIC_AGGREGATION_REGISTRY,
        registry.HIGHER_IS_BETTER_REGISTRY,
        os.path.dirname(lm_eval.tasks.__file__),
    )
