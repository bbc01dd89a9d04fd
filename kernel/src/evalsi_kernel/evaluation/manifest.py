"""The manifest of an evaluation: everything that ran, so that the same can be run again.

It holds no secret and no path beyond the data's own name.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import PYTHON
from evalsi_kernel.packs.refs import CustomRef, parse_ref
from evalsi_kernel.planning.plan import Plan
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.status import Ending
from evalsi_kernel.version import VERSION

if TYPE_CHECKING:
    from evalsi_kernel.request import Request

API_VERSION = "evals.si/v1alpha1"
NO_PROMPTS: Mapping[int, set[str]] = {}
"""Session → the hashes of the prompts that its scores name."""


def run_manifest(
    request: Request,
    plan: Plan,
    ending: Ending,
    intake: Intake,
    *,
    started_at: datetime,
    judging: Mapping[str, Any] | None = None,
    prompts: Mapping[int, set[str]] = NO_PROMPTS,
) -> dict[str, Any]:
    """What ran, as JSON in the form that docs/reference/results.schema.json fixes."""
    source, system = intake.source, os.uname()
    return {
        "evalsi_version": VERSION,
        "api_version": API_VERSION,
        "status": ending.status.value,
        "error": None if ending.error is None else ending.error.to_wire().to_body(),
        "started_at": started_at.isoformat(timespec="milliseconds"),
        "finished_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "dataset": {"source": source.name, "records": intake.count, "sha256": source.sha256()},
        "evaluators": [
            evaluator_entry(instance) | {"prompts": sorted(prompts.get(instance.session, ()))}
            for instance in plan.instances
        ],
        "packs": [
            # The one file of a pack of another runtime holds all that it runs, as a lock names all of a Python pack.
            {
                "name": pack.name,
                "version": pack.version,
                "lock_sha256": _sha256(pack.folder / ("uv.lock" if pack.runtime == PYTHON else pack.module)),
            }
            for pack in plan.packs
        ],
        "judge": judging,
        "summary": {
            "confidence_level": request.confidence,
            "cluster_by": request.cluster_by,
            "ci_method": request.ci,
            "seed": 0,
        },
        "mapping": {name: ".".join(path) for name, path in request.mapping.items()},
        "limit": request.limit,
        "host": {
            "python": sys.version.split()[0],
            "system": f"{system.sysname} {system.machine}",
            "cpus": os.cpu_count(),
        },
    }


def evaluator_entry(instance: Instance) -> dict[str, Any]:
    """An evaluator as the manifest has it, as far as it is known before it scored anything."""
    return {
        "name": instance.name,
        "ref": f"{instance.info.ref}@{instance.info.version}",
        "params": instance.params,
        "scope": instance.info.scope,
        "asks": list(instance.info.asks),
        **own_code(instance.info.pack),
    }


def own_code(pack: str) -> dict[str, str]:
    """What tells an evaluator of one's own from an earlier state of it, since nobody bumps a version with every try.

    Args:
        pack: the name of the evaluator's pack; of an evaluator of one's own it is the file or module as it was named.

    Returns:
        `sha256`, the digest of its file; nothing for one of a pack or an installed module, which have versions.
    """
    ref = parse_ref(pack)
    if not isinstance(ref, CustomRef):
        return {}
    digest = _sha256(Path(ref.target if ref.kind == "file" else f"{ref.target.replace('.', '/')}.py"))
    return {"sha256": digest} if digest else {}


def _sha256(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
