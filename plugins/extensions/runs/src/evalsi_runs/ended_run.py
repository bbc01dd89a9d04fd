"""A run that is over, read back from its folder, so that what it printed can be told again.

Of the results file it reads what stands before the results, which is all that was printed. It must not know how it is
told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from evalsi_kernel.broker.ledger import Bill
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.gates.verdicts import GateResult
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import EvaluatorInfo
from evalsi_kernel.results.evaluated import Evaluation
from evalsi_kernel.runs.request import RunEnd
from evalsi_kernel.runs.run_folder import RunFolder
from evalsi_kernel.scores.intervals import Interval
from evalsi_kernel.scores.summaries import Summary
from evalsi_kernel.status import Status

_RESULTS = b'"results":['
_Tuple = TypeVar("_Tuple", Bill, GateResult, Interval, Summary)


def ended_run(run: RunFolder, about: Mapping[str, Any]) -> RunEnd:
    """What came of a run.

    Args:
        run: one that is over and has results.
        about: what is known of it, as its `run.json` says.

    Raises:
        ConfigError: `config.results`; its results cannot be read, or are damaged.
    """
    try:
        with run.results.open("rb") as file:
            lines = []
            for line in file:
                if line.startswith(_RESULTS):
                    break
                lines.append(line)
        head = json.loads(b"".join(lines).rstrip(b",\n") + b"}")
        return _end(run, about, head)
    except OSError as error:
        raise _unreadable(run, f"cannot be read: {error.strerror}") from error
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise _unreadable(run, f"is damaged: {error!r:.200}") from error


def _end(run: RunFolder, about: Mapping[str, Any], head: Mapping[str, Any]) -> RunEnd:
    manifest, gates = head["manifest"], head.get("gates") or []
    evaluation = Evaluation(
        status=Status(manifest["status"]),
        error=None,
        records=about["items"],
        instances=tuple(_instance(number, one) for number, one in enumerate(manifest["evaluators"])),
        summaries=tuple(map(_summary, head["summaries"])),
        findings=(),
        manifest=manifest,
        spool=None,
        more={key: head[key] for key in ("verdict", "gates", "slices", "trial_advice") if key in head},
    )
    return RunEnd(
        run_id=run.id,
        state=about["state"],
        evaluation=evaluation,
        gates=tuple(_read(GateResult, gate) for gate in gates),
        verdict=head.get("verdict"),
        items=about["items"],
        done=about["done"],
        kept=manifest.get("kept", 0),
        results=run.results,
        reason=about.get("reason", ""),
    )


def _instance(number: int, entry: Mapping[str, Any]) -> Instance:
    ref, _, version = entry["ref"].rpartition("@")
    pack, _, name = ref.rpartition("/")
    info = EvaluatorInfo(name, pack, version, scope=entry["scope"], asks=tuple(entry["asks"]))
    return Instance(number, entry["name"], info, entry["params"])


def _summary(table: Mapping[str, Any]) -> Summary:
    interval, bill = table.get("ci"), table.get("judge")
    parts = {"ci": interval and _read(Interval, interval), "judge": bill and _read(Bill, bill)}
    return _read(Summary, {**table, **parts})


def _read(kind: type[_Tuple], table: Mapping[str, Any]) -> _Tuple:
    """A tuple from its form in JSON; what a newer version may have added is left out."""
    return kind(**{key: table[key] for key in kind._fields if key in table})


def _unreadable(run: RunFolder, why: str) -> ConfigError:
    return ConfigError(f"{run.results} {why}.", "Begin the run anew with --fresh, or delete it.", code="config.results")
