"""The registry of error codes: usual source, retry and meaning.

`python -m evalsi_protocol.error_codes` prints the reference page.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from evalsi_protocol.errors import ErrorSource, Retry


class ErrorCode(NamedTuple):
    """One kind of error.

    Args:
        code: `family.name`. Its meaning never changes, and a removed code is never reused.
        source: usual source; an error may name another.
        retry: whether the same request may be retried: `no`, `same` (at once) or `later`.
        meaning: one sentence.
    """

    code: str
    source: ErrorSource
    retry: Retry
    meaning: str


FAMILIES: Final = {
    "protocol": "Errors of the session itself. A violation of the protocol ends the session.",
    "pack": "Errors of a pack's code or process.",
    "config": "Errors of user input: flags, params, names, files. Nothing was started.",
    "dataset": "Errors of the data as a whole.",
    "record": "Errors of one record.",
    "environment": "Errors of the machine or of a pack's Python environment.",
    "output": "Errors of writing results.",
    "capability": "Errors of calls from a pack to the kernel.",
    "judge": "Errors of a judge model's reply.",
    "provider": "Errors of the service of a judge or an embedding model.",
    "cache": "Errors of the cache of model replies.",
    "run": "Errors of a run as a whole: its folder, event log, budget.",
    "target": "Errors of the target, which a run calls for outputs.",
    "kernel": "Errors of the kernel itself.",
}

_Code = ErrorCode
_CODES: Final = (
    _Code("protocol.answer", "protocol", "no", "An answer is for a request that is not open, or has the wrong method."),
    _Code("protocol.body", "kernel", "no", "A field of a request's body is missing or has the wrong type."),
    _Code("protocol.cancelled", "kernel", "no", "The request was cancelled by the side that sent it."),
    _Code("protocol.closing", "protocol", "later", "The session is closing and accepts no new requests."),
    _Code("protocol.eof", "pack", "same", "The other side closed the stream before the end of the session."),
    _Code("protocol.frame", "protocol", "no", "A frame is too long, is not msgpack, or is not an array of five."),
    _Code("protocol.id", "protocol", "no", "A request's id does not increase, or has the wrong parity."),
    _Code("protocol.item", "protocol", "no", "An item is for a request that is not open."),
    _Code("protocol.kind", "protocol", "no", "A frame has an unknown kind."),
    _Code("protocol.misuse", "protocol", "no", "This side tried to send what the protocol forbids; nothing was sent."),
    _Code("protocol.order", "protocol", "no", "A frame arrived before the session was ready, or hello arrived twice."),
    _Code("protocol.session", "kernel", "no", "A request names a session that is not open, or that is already open."),
    _Code("protocol.too_large", "record", "no", "A frame exceeds the limit of the other side; it was not sent."),
    _Code("protocol.unencodable", "protocol", "no", "A value cannot be encoded; it was not sent."),
    _Code("protocol.unknown_method", "protocol", "no", "The other side does not know the method."),
    _Code("protocol.version", "protocol", "no", "The sides share no protocol major; the hint says which to upgrade."),
    _Code("protocol.window", "protocol", "later", "More requests are open than the window allows."),
    _Code("pack.answered_twice", "pack", "no", "A record and evaluator got two outcomes; neither counts."),
    _Code("pack.archive", "pack", "no", "A pack's archive cannot be unpacked, or is unsafe."),
    _Code("pack.bad_answer", "pack", "no", "A module's answer cannot be read, or does not match the request."),
    _Code("pack.bad_score", "pack", "no", "An evaluator's result is not a finite score, or not what it declares."),
    _Code("pack.changed", "pack", "no", "A pack does not match evalsi.lock or its plugin.toml."),
    _Code("pack.crashed", "pack", "no", "The pack's process ended while it scored this record."),
    _Code("pack.downgrade", "config", "no", "A pack would be downgraded without permission."),
    _Code("pack.evaluator_raised", "pack", "no", "An evaluator raised an exception on this record."),
    _Code("pack.failed", "pack", "no", "The pack failed at a request. Also stands for an error without a code."),
    _Code("pack.import", "pack", "no", "The pack's code cannot be imported, or has no evaluator."),
    _Code("pack.manifest", "pack", "no", "A plugin.toml is missing, cannot be read, or does not match the code."),
    _Code("pack.name", "pack", "no", "A third-party pack has a plain name, which is reserved."),
    _Code("pack.no_answer", "pack", "no", "The pack finished a request without an outcome for this record."),
    _Code("pack.not_added", "config", "no", "The pack is not in evalsi.lock, so it does not run."),
    _Code("pack.not_supported", "pack", "no", "The pack does not support this request."),
    _Code("pack.permissions", "config", "no", "A pack needs permissions that the project did not grant."),
    _Code("pack.signature", "pack", "no", "A release's signature is missing, invalid, or made with another key."),
    _Code("pack.source", "environment", "later", "A pack or an index cannot be fetched, or fails verification."),
    _Code("pack.out_of_fuel", "pack", "no", "A module exceeded its step limit for one record."),
    _Code("pack.out_of_memory", "pack", "no", "A module exceeded its memory limit."),
    _Code("pack.start_failed", "pack", "no", "The pack's process ended before it answered hello."),
    _Code("pack.start_timeout", "pack", "no", "The pack did not answer hello in time."),
    _Code("pack.store", "environment", "no", "The folder of a project's packs is not writable."),
    _Code("pack.timeout", "pack", "no", "The record was not scored within its timeout."),
    _Code("pack.version", "pack", "no", "A pack's version cannot be compared with another."),
    _Code("pack.trap", "pack", "no", "A module trapped while it scored this record."),
    _Code("config.signing_key", "config", "no", "A private signing key cannot be used or written."),
    _Code("config.spec", "config", "no", "A run's spec cannot be read, or is invalid."),
    _Code("config.yaml_text", "config", "no", "A file is not YAML, or uses an unsupported feature of YAML."),
    _Code("config.ambiguous_evaluator", "config", "no", "Several packs have an evaluator of this name."),
    _Code("config.ambiguous_extension", "config", "no", "Several extensions provide this name."),
    _Code("config.baseline", "config", "no", "A gate's baseline does not exist, or is not a results file."),
    _Code("config.condition", "config", "no", "A condition (`when`) cannot be read, or no extension supports it."),
    _Code("config.evaluator", "config", "no", "A reference to an evaluator is invalid."),
    _Code("config.evaluator_version", "config", "no", "The evaluator exists, but not in this version."),
    _Code("config.evalsi_lock", "config", "no", "evalsi.lock is damaged, from a newer version, or locked."),
    _Code("config.extension", "config", "no", "An extension's extension.toml or code is invalid."),
    _Code("config.gate", "config", "no", "Gates name metrics that the run will not have; the message lists them."),
    _Code("config.incomparable", "config", "no", "Two runs have nothing in common to compare."),
    _Code("config.index", "config", "no", "No index of packs is configured, or it is invalid."),
    _Code("config.invalid", "config", "no", "User input is invalid."),
    _Code("config.no_data", "config", "no", "No data is given, or it does not exist."),
    _Code("config.no_extension", "config", "no", "No installed extension provides this name."),
    _Code("config.no_key", "config", "no", "An API key is missing; the message names the environment variable."),
    _Code("config.no_model", "config", "no", "An evaluator needs a model, but none is configured."),
    _Code("config.no_home", "config", "no", "There is no folder for environments and caches."),
    _Code("config.param", "config", "no", "A param is unknown or missing, or its value is invalid."),
    _Code("config.reattach", "config", "no", "EVALSI_REATTACH is invalid, or names no known pack."),
    _Code("config.results", "config", "no", "A file is not a results file, is truncated, or is from a newer version."),
    _Code("config.sql", "config", "no", "An SQL query cannot be run."),
    _Code("config.unknown_evaluator", "config", "no", "No evaluator has this name."),
    _Code("config.unknown_pack", "config", "no", "No pack has this name."),
    _Code("config.usage", "config", "no", "The arguments of a command or call are wrong."),
    _Code("dataset.duplicate_id", "record", "no", "Two records have the same id."),
    _Code("dataset.empty", "record", "no", "The data has no record."),
    _Code("dataset.invalid", "record", "no", "The data cannot be read as records."),
    _Code("dataset.missing_extra", "environment", "no", "The library that reads this kind of data is not installed."),
    _Code("dataset.not_found", "config", "no", "The file does not exist."),
    _Code("dataset.unknown_format", "config", "no", "No reader supports this data format."),
    _Code("dataset.unreachable", "environment", "later", "The server of the data does not answer."),
    _Code("dataset.unreadable", "record", "no", "The file exists but cannot be read."),
    _Code("record.field", "record", "no", "A field of the record does not have the type that the evaluator takes."),
    _Code("environment.broken", "environment", "no", "A pack's environment exists but does not run."),
    _Code("environment.build_failed", "environment", "no", "A pack's environment could not be built from its lock."),
    _Code("environment.busy", "environment", "later", "Another process is building this environment."),
    _Code("environment.cache_unwritable", "environment", "no", "The folder of environments is not writable."),
    _Code("environment.disk_full", "environment", "later", "The disk is full."),
    _Code("environment.lock_local", "environment", "no", "A lock has a package with a local path."),
    _Code("environment.lock_stale", "environment", "no", "A lock does not match its pyproject.toml."),
    _Code("environment.lock_unhashed", "environment", "no", "A lock has a package without a hash."),
    _Code("environment.lock_unreadable", "environment", "no", "A lock cannot be read."),
    _Code("environment.missing_extra", "environment", "no", "A library of an extra is not installed."),
    _Code("environment.no_builder", "environment", "no", "No installed extension builds environments."),
    _Code("environment.no_lock", "environment", "no", "A pack has no lock."),
    _Code("environment.no_sdk", "environment", "no", "The SDK that a pack needs cannot be found."),
    _Code("environment.no_uv", "environment", "no", "uv, which builds environments, is not installed."),
    _Code("environment.scratch", "environment", "later", "A pack's scratch folder cannot be created."),
    _Code("environment.certificate", "environment", "no", "A certificate is not trusted, or cannot be read."),
    _Code("environment.socket", "environment", "later", "No pack answers at the address, or it cannot be bound."),
    _Code("output.unwritable", "environment", "no", "The results cannot be written to the given path."),
    _Code("capability.not_bound", "config", "no", "This run does not provide the capability that a pack requested."),
    _Code("capability.not_granted", "pack", "no", "A pack makes model calls that the project did not grant."),
    _Code("judge.budget", "config", "no", "The call would exceed the budget for model calls; it was not made."),
    _Code("judge.dry_run", "config", "no", "No call was made, because this is a dry run."),
    _Code("judge.empty", "judge", "no", "The judge's reply is empty."),
    _Code("judge.refused", "judge", "no", "The judge refused to answer."),
    _Code("judge.schema", "pack", "no", "A pack's schema for a judge's answer is not supported."),
    _Code("judge.truncated", "judge", "no", "The judge's reply was truncated at its token limit."),
    _Code("judge.unparsable", "judge", "no", "The judge's reply does not match the schema, even after one repair."),
    _Code("provider.auth", "config", "no", "The provider rejected the key, or the key has no access to the model."),
    _Code("provider.bad_reply", "provider", "later", "The provider's response is not a valid reply of its API."),
    _Code("provider.bad_request", "config", "no", "The provider rejected the request."),
    _Code("provider.connection", "provider", "later", "The provider cannot be reached, or closed the connection."),
    _Code("provider.failed", "provider", "later", "The provider failed (HTTP 5xx)."),
    _Code("provider.not_found", "config", "no", "The provider does not know the model or the address."),
    _Code("provider.quota", "provider", "no", "The account's quota or credit is exhausted."),
    _Code("provider.rate_limited", "provider", "later", "The provider rejected the call: rate limit (HTTP 429)."),
    _Code("provider.timeout", "provider", "later", "The provider did not answer in time."),
    _Code("provider.tls", "config", "no", "The provider's certificate cannot be trusted."),
    _Code("provider.too_large", "provider", "no", "The provider's reply exceeds the size limit."),
    _Code("provider.unsupported", "config", "no", "The provider or the model does not support the request."),
    _Code("cache.corrupt", "environment", "no", "The cache file of model replies is damaged."),
    _Code("cache.newer", "environment", "no", "The cache file was written by a newer version."),
    _Code("cache.unusable", "environment", "no", "The cache of model replies cannot be opened or written."),
    _Code("run.budget", "config", "no", "Another call to the target would exceed the budget of the run."),
    _Code("run.changed", "config", "no", "The spec or the data of the run to resume has changed."),
    _Code("run.locked", "config", "later", "Another process is working on the run."),
    _Code("run.log", "environment", "no", "The event log of a run cannot be read by this version."),
    _Code("run.unknown", "config", "no", "There is no run with this id."),
    _Code("target.failed", "provider", "no", "The target failed on a record."),
    _Code("target.input", "record", "no", "The record lacks a field that the target needs."),
    _Code("target.output", "provider", "no", "The target's answer is not a valid output."),
    _Code("target.timeout", "provider", "later", "The target did not answer in time."),
    _Code("kernel.aborted", "kernel", "no", "The kernel ended the session."),
    _Code("kernel.internal", "kernel", "no", "Internal error of the kernel. Please report it."),
)  # fmt: skip

ERROR_CODES: Final = {one.code: one for one in _CODES}


def page() -> str:
    """Return the reference page in Markdown."""
    lines = [
        "# Error codes",
        "",
        "Every error carries a code, a message, a hint, a source and a retry. Written from the registry in",
        "`protocol/src/evalsi_protocol/error_codes.py`; an error may name another source than the usual one below.",
    ]
    for family, meaning in FAMILIES.items():
        lines += ["", f"## {family}", "", meaning]
        codes = [one for one in _CODES if one.code.startswith(f"{family}.")]
        if codes:
            lines += ["", "| code | meaning | source | retry |", "|---|---|---|---|"]
            lines += [f"| `{one.code}` | {one.meaning} | {one.source} | {one.retry} |" for one in codes]
        else:
            lines += ["", "No code yet."]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print or write the reference page."""
    parser = argparse.ArgumentParser(prog="python -m evalsi_protocol.error_codes", description="Print the page.")
    parser.add_argument("--write", type=Path, help="the file to write instead of printing")
    options = parser.parse_args(arguments)
    if options.write is None:
        print(page(), end="")
    else:
        options.write.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
