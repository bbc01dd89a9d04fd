"""The registry of error codes: whose fault each is by rule, whether to try again, and what it means.

It must not know who raises a code. `python -m evalsi_protocol.error_codes` prints the reference page.
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
        code: `family.name`; it never changes its meaning, and is never used again once it is gone.
        source: whose fault it is, unless the error itself says otherwise.
        retry: whether the same request may be tried again: no, at once (`same`), or `later`.
        meaning: one sentence.
    """

    code: str
    source: ErrorSource
    retry: Retry
    meaning: str


FAMILIES: Final = {
    "protocol": "The session itself. One that breaks the protocol ends the session.",
    "pack": "The code of a pack, or the process it runs in.",
    "config": "What a person wrote: flags, params, names, files. Nothing was started.",
    "dataset": "The data as a whole.",
    "record": "One record.",
    "environment": "The Python environment of a pack.",
    "output": "Where results are written.",
    "capability": "What a pack asks of the kernel.",
    "judge": "The reply of a judge model.",
    "provider": "The service behind a judge or an embedding model.",
    "cache": "The cache of model replies.",
    "run": "A run as a whole: its folder, its log, its budget.",
    "target": "What a run asks for outputs.",
    "kernel": "The kernel itself.",
}

_Code = ErrorCode
_CODES: Final = (
    _Code("protocol.answer", "protocol", "no", "An answer came for a request that is not open, or under a wrong name."),
    _Code("protocol.body", "kernel", "no", "A field of a request's body is absent or of the wrong type."),
    _Code("protocol.cancelled", "kernel", "no", "The request was cancelled by the side that asked."),
    _Code("protocol.closing", "protocol", "later", "The session is closing and takes no new request."),
    _Code("protocol.eof", "pack", "same", "The other side went away before the session was over."),
    _Code("protocol.frame", "protocol", "no", "A frame is too long, is not msgpack, or is no array of five."),
    _Code("protocol.id", "protocol", "no", "A request's id was used before, falls back, or has the wrong parity."),
    _Code("protocol.item", "protocol", "no", "An item names no open request."),
    _Code("protocol.kind", "protocol", "no", "A frame is neither request, response, error nor event."),
    _Code("protocol.misuse", "protocol", "no", "This side asked for what the protocol forbids; nothing was sent."),
    _Code("protocol.order", "protocol", "no", "A frame came before the session was ready, or hello came twice."),
    _Code("protocol.session", "kernel", "no", "A request names a session that is not open, or that is already open."),
    _Code("protocol.too_large", "record", "no", "A frame would be longer than the other side takes; it was not sent."),
    _Code("protocol.unencodable", "protocol", "no", "A value has no wire form; it was not sent."),
    _Code("protocol.unknown_method", "protocol", "no", "The other side does not know the method."),
    _Code("protocol.version", "protocol", "no", "The sides share no protocol major; the hint says which must move."),
    _Code("protocol.window", "protocol", "later", "More requests are open than the window allows."),
    _Code("pack.answered_twice", "pack", "no", "Two outcomes came for one record and evaluator; neither counts."),
    _Code("pack.archive", "pack", "no", "What a pack comes in cannot be unpacked without risk, or at all."),
    _Code("pack.bad_answer", "pack", "no", "What a module answered cannot be read, or is not about what it was asked."),
    _Code("pack.bad_score", "pack", "no", "What an evaluator returned is no finite score, or not what it declares."),
    _Code("pack.changed", "pack", "no", "A pack is not what evalsi.lock or its plugin.toml says."),
    _Code("pack.crashed", "pack", "no", "The pack's process ended while it scored this record."),
    _Code("pack.downgrade", "config", "no", "A pack would go back to an older version, and nobody said that it may."),
    _Code("pack.evaluator_raised", "pack", "no", "An evaluator raised an exception on this record."),
    _Code("pack.failed", "pack", "no", "The pack could not do a request; also what an error without a code reads as."),
    _Code("pack.import", "pack", "no", "The pack's code cannot be imported, or holds no evaluator."),
    _Code("pack.manifest", "pack", "no", "A plugin.toml is missing, cannot be read, or does not fit the code."),
    _Code("pack.name", "pack", "no", "A third party's pack has a plain name, which are those of Evals.si's own packs."),
    _Code("pack.no_answer", "pack", "no", "The pack finished a request without an outcome for this record."),
    _Code("pack.not_added", "config", "no", "evalsi.lock does not name the pack, so it is neither run nor recorded."),
    _Code("pack.not_supported", "pack", "no", "The pack does not do this request."),
    _Code("pack.permissions", "config", "no", "A pack asks for permissions that the project did not grant."),
    _Code("pack.signature", "pack", "no", "A release's signature does not verify, is missing, or is by another key."),
    _Code("pack.source", "environment", "later", "A pack or an index cannot be fetched, or is not what was promised."),
    _Code("pack.out_of_fuel", "pack", "no", "A module did more steps than one record may take."),
    _Code("pack.out_of_memory", "pack", "no", "A module needed more memory than it may hold."),
    _Code("pack.start_failed", "pack", "no", "The pack's process ended before it answered hello."),
    _Code("pack.start_timeout", "pack", "no", "The pack did not answer hello in time."),
    _Code("pack.store", "environment", "no", "The folder of a project's packs cannot be written."),
    _Code("pack.timeout", "pack", "no", "No outcome came for this record within its time limit."),
    _Code("pack.version", "pack", "no", "A pack's version has no order, so that it could be older or newer."),
    _Code("pack.trap", "pack", "no", "A module stopped by a fault of its own while it did this record."),
    _Code("config.signing_key", "config", "no", "A private key to sign with cannot be used, or cannot be written."),
    _Code("config.spec", "config", "no", "A run's spec cannot be read, or does not fit."),
    _Code("config.yaml_text", "config", "no", "A file is no YAML, or uses a part of it that is not read."),
    _Code("config.ambiguous_evaluator", "config", "no", "Several packs have an evaluator of this name."),
    _Code("config.ambiguous_extension", "config", "no", "Several extensions provide this name."),
    _Code("config.baseline", "config", "no", "A baseline of a gate is not there, or is no results file."),
    _Code("config.condition", "config", "no", "A condition (`when`) cannot be read, or nothing here reads it."),
    _Code("config.evaluator", "config", "no", "The way an evaluator is named cannot be read."),
    _Code("config.evaluator_version", "config", "no", "The evaluator exists, but not in this version."),
    _Code("config.evalsi_lock", "config", "no", "evalsi.lock is damaged, of a newer version, or held by another."),
    _Code("config.extension", "config", "no", "An extension's extension.toml or its code does not fit."),
    _Code("config.gate", "config", "no", "Gates name what the run will not have; the message tells all of it."),
    _Code("config.incomparable", "config", "no", "Two runs have nothing in common that could be compared."),
    _Code("config.index", "config", "no", "No index of packs is named, or the one that is does not fit."),
    _Code("config.invalid", "config", "no", "Something that a person wrote does not fit."),
    _Code("config.no_data", "config", "no", "No data is named, or what is named is not there."),
    _Code("config.no_extension", "config", "no", "No installed extension provides this name."),
    _Code("config.no_key", "config", "no", "An API key is missing; the message names the environment variable."),
    _Code("config.no_model", "config", "no", "An evaluator needs a model, but none is configured."),
    _Code("config.no_home", "config", "no", "There is no folder to keep environments and caches in."),
    _Code("config.param", "config", "no", "A param is unknown, missing, or has a value that does not fit."),
    _Code("config.reattach", "config", "no", "EVALSI_REATTACH cannot be read, or names no pack."),
    _Code("config.results", "config", "no", "A file is no results file, is cut off, or is of a newer version."),
    _Code("config.sql", "config", "no", "A question in SQL cannot be run."),
    _Code("config.unknown_evaluator", "config", "no", "No evaluator has this name."),
    _Code("config.unknown_pack", "config", "no", "No pack has this name."),
    _Code("config.usage", "config", "no", "The words of a command, or the arguments of a call, are off."),
    _Code("dataset.duplicate_id", "record", "no", "Two records have one id."),
    _Code("dataset.empty", "record", "no", "The data has no record."),
    _Code("dataset.invalid", "record", "no", "The data cannot be read as records."),
    _Code("dataset.missing_extra", "environment", "no", "The library that reads this kind of data is not installed."),
    _Code("dataset.not_found", "config", "no", "There is no such file."),
    _Code("dataset.unknown_format", "config", "no", "Nothing reads data of this kind."),
    _Code("dataset.unreachable", "environment", "later", "The place that holds the data does not answer."),
    _Code("dataset.unreadable", "record", "no", "The file is there but cannot be read."),
    _Code("record.field", "record", "no", "A field of the record is not of the type that the evaluator takes."),
    _Code("environment.broken", "environment", "no", "A pack's environment is there but cannot run."),
    _Code("environment.build_failed", "environment", "no", "A pack's environment could not be built from its lock."),
    _Code("environment.busy", "environment", "later", "Another process builds this environment and is not done."),
    _Code("environment.cache_unwritable", "environment", "no", "The folder of environments cannot be written."),
    _Code("environment.disk_full", "environment", "later", "The disk is full."),
    _Code("environment.lock_local", "environment", "no", "A lock names a package by a path of one machine."),
    _Code("environment.lock_stale", "environment", "no", "A lock does not fit its pyproject.toml."),
    _Code("environment.lock_unhashed", "environment", "no", "A lock names a package without a hash."),
    _Code("environment.lock_unreadable", "environment", "no", "A lock cannot be read."),
    _Code("environment.missing_extra", "environment", "no", "A library that an extra brings is not installed."),
    _Code("environment.no_builder", "environment", "no", "No extension is installed that builds environments."),
    _Code("environment.no_lock", "environment", "no", "A pack has no lock."),
    _Code("environment.no_sdk", "environment", "no", "The SDK that a pack needs cannot be found."),
    _Code("environment.no_uv", "environment", "no", "uv, which builds environments, is not installed."),
    _Code("environment.scratch", "environment", "later", "No scratch folder can be made for a pack."),
    _Code("environment.certificate", "environment", "no", "A certificate is not to be trusted, or cannot be read."),
    _Code("environment.socket", "environment", "later", "No pack answers at the address, or none can listen there."),
    _Code("output.unwritable", "environment", "no", "The results cannot be written where they should be."),
    _Code("capability.not_bound", "config", "no", "Nothing in this run serves the capability that a pack asked for."),
    _Code("capability.not_granted", "pack", "no", "A pack asks a model beyond what the project granted it."),
    _Code("judge.budget", "config", "no", "The budget for model calls would not cover the call; it was not made."),
    _Code("judge.dry_run", "config", "no", "No call was made, because this is a dry run."),
    _Code("judge.empty", "judge", "no", "The judge answered with nothing."),
    _Code("judge.refused", "judge", "no", "The judge refused to answer."),
    _Code("judge.schema", "pack", "no", "The schema that a pack asks a judge to follow cannot be used."),
    _Code("judge.truncated", "judge", "no", "The judge's reply was cut off at its token limit."),
    _Code("judge.unparsable", "judge", "no", "The judge's reply is not what the schema asks for, after one repair."),
    _Code("provider.auth", "config", "no", "The provider refused the key, or the key may not use the model."),
    _Code("provider.bad_reply", "provider", "later", "The provider answered with what is no reply of its API."),
    _Code("provider.bad_request", "config", "no", "The provider refused the request itself."),
    _Code("provider.connection", "provider", "later", "The provider cannot be reached, or closed the connection."),
    _Code("provider.failed", "provider", "later", "The provider failed (HTTP 5xx)."),
    _Code("provider.not_found", "config", "no", "The provider does not know the model or the address."),
    _Code("provider.quota", "provider", "no", "The account's quota or credit is used up."),
    _Code("provider.rate_limited", "provider", "later", "The provider asks for fewer calls (HTTP 429)."),
    _Code("provider.timeout", "provider", "later", "The provider did not answer in time."),
    _Code("provider.tls", "config", "no", "The provider's certificate cannot be trusted."),
    _Code("provider.too_large", "provider", "no", "The provider's reply is larger than any reply may be."),
    _Code("provider.unsupported", "config", "no", "The provider or the model cannot do what was asked for."),
    _Code("cache.corrupt", "environment", "no", "The cache file of model replies is damaged."),
    _Code("cache.newer", "environment", "no", "The cache file was written by a newer version."),
    _Code("cache.unusable", "environment", "no", "The cache of model replies cannot be opened or written."),
    _Code("run.budget", "config", "no", "The budget of a run does not cover another call to its target."),
    _Code("run.changed", "config", "no", "The spec or the data of a run that is to go on are no longer the same."),
    _Code("run.locked", "config", "later", "Another process works on the run."),
    _Code("run.log", "environment", "no", "The log of a run cannot be read by this version."),
    _Code("run.unknown", "config", "no", "There is no run of this id."),
    _Code("target.failed", "provider", "no", "The target failed on a record."),
    _Code("target.input", "record", "no", "The record lacks what the target is asked with."),
    _Code("target.output", "provider", "no", "The target's answer cannot be a record's output."),
    _Code("target.timeout", "provider", "later", "The target did not answer in time."),
    _Code("kernel.aborted", "kernel", "no", "The kernel ended the session by itself."),
    _Code("kernel.internal", "kernel", "no", "A fault of the kernel; please report it."),
)  # fmt: skip

ERROR_CODES: Final = {one.code: one for one in _CODES}


def page() -> str:
    """The reference page, in Markdown."""
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
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(prog="python -m evalsi_protocol.error_codes", description="The page.")
    parser.add_argument("--write", type=Path, help="the file to write instead of printing")
    options = parser.parse_args(arguments)
    if options.write is None:
        print(page(), end="")
    else:
        options.write.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
