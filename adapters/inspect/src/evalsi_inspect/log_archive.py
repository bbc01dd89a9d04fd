"""Read an `.eval` log: a zip with a header and one member per sample, compressed with Zstandard or deflate.

One sample is in memory at a time.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

import zstandard

from evalsi_inspect.log_fault import LogFault, check_version

if sys.version_info < (3, 14):
    import zipfile_zstd  # noqa: F401 -- adds Zstandard to zipfile.

HEADER, START = "header.json", "_journal/start.json"
SAMPLES = "samples/"
_HINT = "Copy the log again, or correct it with `inspect log recover`."


class LogArchive:
    """An `.eval` log.

    Args:
        file: file open for reading; the caller closes it.
        name: name of the log for error messages.

    Attributes:
        header: header of the log; if the evaluation was interrupted, the header written at its start.

    Raises:
        LogFault: the file is not such a log, is damaged, or has a newer version.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._name = name
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError) as error:
            raise LogFault(f"{name} is no log of Inspect's, or is cut off: {error}.", _HINT) from error
        self._members = [name for name in self._zip.namelist() if name.startswith(SAMPLES) and name.endswith(".json")]
        names = set(self._zip.NameToInfo)
        member = next((name for name in (HEADER, START) if name in names), None)
        if member is None:
            raise LogFault(f"{name} is a zip without the header of a log.", "Name a log that Inspect wrote.")
        self.header: dict[str, Any] = self._json(member)
        check_version(name, self.header.get("version"))

    def samples(self) -> Iterator[dict[str, Any]]:
        """Yield the samples in the order in which they were finished.

        Raises:
            LogFault: a sample cannot be read.
        """
        # A rewritten sample is listed twice; the zip's index by name returns the last version.
        for name in dict.fromkeys(self._members):
            yield self._json(name)

    def _json(self, member: str) -> dict[str, Any]:
        try:
            value = json.loads(self._zip.read(member))
        except (zipfile.BadZipFile, zstandard.ZstdError, OSError, EOFError, RuntimeError, ValueError) as error:
            raise LogFault(f"{self._name}, {member}: it cannot be read: {error}.", _HINT) from error
        if not isinstance(value, dict):
            raise LogFault(f"{self._name}, {member}: there is no object in it.", _HINT)
        return value
