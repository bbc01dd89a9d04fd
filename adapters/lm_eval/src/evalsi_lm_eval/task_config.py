"""Find a task of the harness by name or YAML file, and reject tasks that cannot score recorded outputs.

The harness' own index parses thousands of files; searching their text for the name is faster.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalsi import ParamError
from evalsi_lm_eval.harness import harness

_NAME = re.compile(r"[\w.:+-]+")
# Marks metrics of the library `evaluate`, which loads code from a hub.
_HUB = "hf_evaluate"


def task_config(task: str) -> dict[str, Any]:
    """Return the config of a task, with its includes and functions resolved.

    Args:
        task: name of a task of the harness, or path of a YAML file.

    Raises:
        ParamError: the task does not exist, is a group, or cannot be scored here.
    """
    path = _path_of(task)
    # Check before resolving functions: a rejected task may name functions that cannot be imported here.
    _refuse(task, _read(task, path, resolve_func=False))
    return _read(task, path, resolve_func=True)


def _read(task: str, path: Path, *, resolve_func: bool) -> dict[str, Any]:
    try:
        config: dict[str, Any] = harness().load_yaml(path, resolve_func=resolve_func)
    except Exception as error:
        raise ParamError("task", f"{task} cannot be read: {type(error).__name__}: {error}") from error
    return config


def _path_of(task: str) -> Path:
    if task.endswith((".yaml", ".yml")):
        path = Path(task).expanduser()
        if not path.is_absolute():
            raise ParamError("task", f"{task} is no absolute path; an evaluator runs in a folder of its own")
        if not path.is_file():
            raise ParamError("task", f"there is no file {task}")
        return path
    if not _NAME.fullmatch(task):
        raise ParamError("task", f"{task!r} is no name of a task and no path that ends in .yaml")
    task_line = _line("task", task)
    group_line = _line("group", task)
    is_group = False
    for path in _files():
        text = path.read_bytes()
        if task_line.search(text):
            return path
        is_group = is_group or group_line.search(text) is not None
    if is_group:
        raise ParamError("task", f"{task} is a group; name one of its tasks")
    raise ParamError("task", f"the harness has no task {task!r}, and a tag is none; give the path of its YAML file")


def _line(key: str, name: str) -> re.Pattern[bytes]:
    pattern = rf"^{key}:[ \t]*([\"']?){re.escape(name)}\1[ \t]*(#.*)?\r?$"
    return re.compile(pattern.encode(), re.MULTILINE)


def _files() -> Iterator[Path]:
    for folder, folders, names in os.walk(harness().folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".yaml"):
                yield Path(folder, name)


def _refuse(task: str, config: dict[str, Any]) -> None:
    if "class" in config:
        raise ParamError("task", f"{task} is a class of Python, which scores nothing without its own dataset")
    if not isinstance(config.get("task"), str):
        raise ParamError("task", f"{task} is a group or a part of tasks; name one task")
    if config.get("unsafe_code"):
        raise ParamError("task", f"{task} runs what the model wrote as code, which an evaluator's process must not")
    if config.get("doc_to_image") or config.get("doc_to_audio"):
        raise ParamError("task", f"{task} is about images or sound, and records hold text")
    if config.get("use_prompt"):
        raise ParamError("task", f"{task} takes its prompts from a library that is not here (promptsource)")
    if config.get("process_results"):
        return
    for metric in config.get("metric_list") or ():
        name = metric.get("metric")
        if metric.get(_HUB) or (isinstance(name, str) and name not in harness().metrics):
            raise ParamError("task", f"{task} takes its metric {name} from a hub, and nothing is loaded from there")
