"""Read and check a module's description of its evaluators, and open an evaluator with its params."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from evalsi_kernel.checking.param_schema import params_schema_problems
from evalsi_kernel.packs.params import check_params
from evalsi_protocol.errors import LocalMisuse
from evalsi_protocol.frames import Packed, pack
from evalsi_protocol.values import check_value
from evalsi_wasm.answers import read_answer
from evalsi_wasm.faults import GuestFault, unusable
from evalsi_wasm.module import AGGREGATE, PLAN, SCORE

RECORD_TIMEOUT_S: Final = 60.0
DEFAULTS: Final[dict[str, Any]] = {
    "summary": "",
    "scope": "record",
    "needs": [],
    "asks": [],
    "outputs": [],
    "params": {},
}
SCOPES: Final = ("record", "dataset")
CAN_ASK: Final = ("judge",)


class Opened(NamedTuple):
    """An evaluator opened with params.

    Args:
        table: the evaluator's entry in the module's description.
        params: the checked params.
        head: the `evaluator` and `params` fields of every request body, encoded as MessagePack.
        record_timeout_s: timeout of one record.
        concurrency: how many records may wait for a judge at the same time.
    """

    table: dict[str, Any]
    params: dict[str, Any]
    head: dict[str, Packed]
    record_timeout_s: float
    concurrency: int

    @property
    def judges(self) -> bool:
        """Whether the evaluator asks a judge."""
        return "judge" in self.table["asks"]

    @property
    def is_of_dataset(self) -> bool:
        """Whether the evaluator has dataset scope."""
        return bool(self.table["scope"] == "dataset")

    def lacks(self, record: Mapping[str, Any]) -> str:
        """Return the first required field that the record lacks; "" if it has all of them."""
        for need in self.table["needs"]:
            if need not in record and not _has(record, need):
                return str(need)
        return ""


def read_declared(manifest: Path) -> dict[str, dict[str, Any]]:
    """Return the evaluators in a plugin.toml by name, reduced to the fields in `DEFAULTS`.

    Raises:
        GuestFault: `pack.import`; the file cannot be read or is not a manifest.
    """
    try:
        tables = tomllib.loads(manifest.read_text("utf-8"))["evaluators"]
        return {table["name"]: {key: table[key] for key in DEFAULTS if key in table} for table in tables}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unusable(manifest.name, f"cannot be read: {error}", "Run `evalsi doctor`.") from error


def read_description(
    name: str, data: bytes, exports: frozenset[str], declared: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return the module's evaluators by name, completed from the manifest and the defaults.

    Args:
        name: file name of the module, for error messages.
        data: answer of `evalsi_describe`.
        exports: the module's exported functions.
        declared: the evaluators in the manifest; used for fields that the module leaves out.

    Raises:
        GuestFault: `pack.import`; the description is missing or invalid.
    """
    try:
        listed = read_answer(data).get("evaluators")
    except GuestFault as fault:
        raise unusable(
            name, f"does not describe itself: {fault.error.message.rstrip('.')}", fault.error.hint
        ) from fault
    if not isinstance(listed, list) or not listed:
        raise unusable(name, "describes no evaluator", "List them in the answer of evalsi_describe.")
    tables: dict[str, dict[str, Any]] = {}
    for number, described in enumerate(listed):
        table = _completed(described, declared)
        problem = _problem(table, exports) or ("has the name of another" if table["name"] in tables else "")
        if problem:
            raise unusable(name, f"describes its evaluator {number} so that it {problem}", "Correct evalsi_describe.")
        tables[table["name"]] = table
    return tables


def open_evaluator(table: dict[str, Any], params: dict[str, Any], record_timeout_s: float, concurrency: int) -> Opened:
    """Check the params against the evaluator's schema and bind them.

    Raises:
        ConfigError: `config.param`; the params do not match the schema.
    """
    checked = check_params(table["name"], table["params"], params)
    head = {"evaluator": Packed(pack(table["name"])), "params": Packed(pack(checked))}
    return Opened(table, checked, head, record_timeout_s, concurrency)


def _completed(described: Any, declared: Mapping[str, dict[str, Any]]) -> Any:
    if not isinstance(described, dict) or not isinstance(described.get("name"), str):
        return described
    return DEFAULTS | declared.get(described["name"], {}) | described


def _problem(table: Any, exports: frozenset[str]) -> str:
    if not isinstance(table, dict):
        return "is no map"
    for key in ("name", "version"):
        if not isinstance(table.get(key), str) or not table[key]:
            return f"has no {key}"
    for key, default in DEFAULTS.items():
        if not isinstance(table.get(key, default), type(default)):
            return f"has a {key} of another type"
    try:
        check_value(table)
    except LocalMisuse as misuse:
        return f"cannot be sent: {misuse.error.message.rstrip('.')}"
    # As in a manifest, an evaluator without a schema takes no params.
    if table.get("params"):
        for problem in params_schema_problems(table["params"], "params"):
            return f"has {problem.at} that {problem.what}"
    return _misfit(table, exports)


def _misfit(table: dict[str, Any], exports: frozenset[str]) -> str:
    """Return why the evaluator does not fit the module's exports; "" if it does."""
    scope, asks = table.get("scope", "record"), table.get("asks", [])
    if scope not in SCOPES:
        return f"has the scope {scope!r:.40}"
    if any(word not in CAN_ASK for word in asks):
        return "asks for more than a judge, which is all that a module can ask"
    if scope == "dataset" and (asks or SCORE not in exports):
        return f"is of the whole data, which needs {SCORE} and {AGGREGATE}, and no judge"
    wanted = PLAN if asks else AGGREGATE if scope == "dataset" else SCORE
    return "" if wanted in exports else f"needs the export {wanted}"


def _has(record: Mapping[str, Any], path: str) -> bool:
    value: Any = record
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
        if value is None:
            return False
    return True
