"""Parse params from the command line, validate them against the evaluator's schema, and fill in defaults."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

from evalsi_kernel.checking.problems import Problem, problems_error
from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.checking.value_schema import shown, types_of, value_problems
from evalsi_kernel.errors import ConfigError, UsageError

_FALSE_WORDS = frozenset({"", "0", "false", "f", "no", "n", "off", "none"})


def check_params(evaluator_name: str, schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the params of an evaluator with defaults filled in.

    Args:
        evaluator_name: the name that the user uses, for messages.
        schema: JSON Schema of the params from the manifest; undeclared params are rejected unless
            `additionalProperties` allows them.
        given: param → JSON value.

    Raises:
        ConfigError: `config.param`: all problems are in its message and in `details["problems"]`.
    """
    problems = list(_problems(evaluator_name, schema, given))
    if problems:
        raise problems_error(ConfigError, "config.param", evaluator_name, problems, evaluator=evaluator_name)
    defaults = {
        # A copy for each caller, because the schema belongs to the catalog.
        name: _copy(param["default"])
        for name, param in schema.get("properties", {}).items()
        if "default" in param and name not in given
    }
    return {**defaults, **given}


def parse_param_text(text: str) -> Any:
    """Return the value of the text after `=`: parsed JSON if it is JSON, else the text itself.

    NaN, Infinity, and numbers too large for a float are not JSON and stay text.
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return text


def parse_param_assignments(assignments: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Parse `EVALUATOR.PARAM=VALUE` texts into evaluator → param → value.

    The evaluator's name may contain dots and slashes: the param follows the last dot before the first `=`.

    Raises:
        UsageError: `config.param`: a text is malformed, or a param is given twice; all problems are reported.
    """
    params: dict[str, dict[str, Any]] = {}
    problems: list[Problem] = []
    for assignment in assignments:
        left, equals, text = assignment.partition("=")
        evaluator, dot, param = left.strip().rpartition(".")
        if not equals:
            named = left if "." in left else f"EVALUATOR.{left or 'PARAM'}"
            problems.append(Problem(assignment, "has no =", f"Write {named}=VALUE."))
        elif not dot or not evaluator or not param:
            hint = f"Write EVALUATOR.{param or 'PARAM'}={text or 'VALUE'}, such as numeric-match.rel_tol=0.01."
            problems.append(Problem(assignment, "does not name an evaluator and a param", hint))
        elif param in params.get(evaluator, {}):
            problems.append(Problem(assignment, f"sets {evaluator}.{param} again", "Set it once."))
        else:
            params.setdefault(evaluator, {})[param] = parse_param_text(text)
    if problems:
        raise problems_error(UsageError, "config.param", "--param", problems)
    return params


def _problems(evaluator_name: str, schema: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[Problem]:
    properties: dict[str, Any] = schema.get("properties", {})
    others = schema.get("additionalProperties", False)
    listing = f"Its params are: {', '.join(properties)}." if properties else "It has no params."
    for name, value in given.items():
        if name not in properties and others is False:
            yield Problem("", f'unknown param "{name}"', f"{did_you_mean(name, properties)} {listing}".strip())
            continue
        param = properties.get(name, {} if others is True else others)
        for problem in value_problems(param, value, name):
            yield Problem(problem.at, problem.what, problem.hint or _right_form(evaluator_name, name, param, value))
    for name in schema.get("required", ()):
        if name not in given:
            described = properties.get(name, {}).get("description", "")
            what = f'the required param "{name}" is missing' + (f" ({described.rstrip('.')})" if described else "")
            yield Problem("", what, f"Add --param {evaluator_name}.{name}=VALUE.")


def _right_form(evaluator_name: str, name: str, schema: dict[str, Any], value: Any) -> str:
    """Return a hint that shows how to write what was probably meant on the command line; "" if unclear."""
    import shlex  # Rarely needed.

    types = types_of(schema)
    if "boolean" in types and isinstance(value, str | int):
        text = "false" if str(value).strip().casefold() in _FALSE_WORDS else "true"
    elif "string" in types and isinstance(value, int | float) and shown(value) != "a very long number":
        text = shlex.quote(json.dumps(json.dumps(value)))
    elif "array" in types and isinstance(value, str):
        text = shlex.quote(json.dumps([value], ensure_ascii=False))
    else:
        return ""
    return f"Write --param {evaluator_name}.{name}={text}."


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return {key: _copy(item) for key, item in value.items()} if isinstance(value, dict) else value


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is too large for a float")
    return number
