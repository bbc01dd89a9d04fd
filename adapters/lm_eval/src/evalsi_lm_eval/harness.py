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
    """The parts of the harness that this adapter uses.

    Args:
        task: class of tasks that a config describes.
        instance: class of requests, which hold responses.
        load_yaml: reads a task's YAML file with its includes.
        filters: filters by name.
        metrics: metrics by name.
        aggregations: aggregations by name.
        of_metric: default aggregation of each metric.
        higher_is_better: direction of each metric.
        folder: folder of the harness' own tasks.
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
    """Return the harness, imported at the first call."""
    os.environ.update(_OFFLINE)
    put_in_place()
    # Its warnings are about configs that this adapter generates.
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
