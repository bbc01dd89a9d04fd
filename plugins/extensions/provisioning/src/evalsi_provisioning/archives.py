"""Unpack untrusted zip, wheel and tar archives: only regular files inside the target folder, within size limits."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import stat
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, cast

from evalsi_kernel.errors import PackError

ZIPS = (".whl", ".zip")
TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
MAX_FILES = 10_000
MAX_BYTES = 256 * 1024 * 1024
_CHUNK_BYTES = 1 << 14
"""Maximum size of one read. Headers of a tar (names, links, times) are far smaller."""
_OF_NAMES = frozenset({errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ})


class _Member(NamedTuple):
    """One entry: its name in the archive, and its contents (None for a folder)."""

    name: str
    file: IO[bytes] | None
    is_program: bool


def is_archive(name: str) -> bool:
    """Whether a file of this name is a supported archive."""
    return name.lower().endswith((*ZIPS, *TARS))


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive into an empty folder.

    Raises:
        PackError: `pack.archive`; the file is not an archive, exceeds a limit, or contains a link, a device or a path
            outside of the folder.
    """
    left_bytes, taken = MAX_BYTES, set[str]()
    try:
        for count, member in enumerate(_members(archive), 1):
            if count > MAX_FILES:
                raise _refusal(archive, f"holds more than {MAX_FILES:,} entries")
            path = folder / _safe(member.name, archive)
            if member.file is None:
                path.mkdir(parents=True, exist_ok=True)
                continue
            if _everywhere(path) in taken:
                raise _refusal(archive, f"holds {path.name!r} twice")
            taken.add(_everywhere(path))
            path.parent.mkdir(parents=True, exist_ok=True)
            # Mode "x" refuses duplicate names, so that no entry can replace one that was checked before.
            with member.file, path.open("xb") as out:
                while chunk := member.file.read(_CHUNK_BYTES):
                    left_bytes -= len(chunk)
                    if left_bytes < 0:
                        raise _refusal(archive, f"unpacks to more than {MAX_BYTES // 1_000_000:,} MB")
                    out.write(chunk)
            if member.is_program:
                path.chmod(0o755)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise _refusal(archive, f"holds {Path(str(error.filename)).name!r} twice") from error
    except OSError as error:
        if error.errno is None:  # gzip and bz2 raise a plain OSError for invalid data.
            raise _refusal(archive, f"cannot be read: {error}") from error
        if error.errno not in _OF_NAMES:
            raise
        raise _refusal(archive, "holds a name that no file can have here") from error
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        ValueError,
        RuntimeError,
    ) as error:
        raise _refusal(archive, f"cannot be read: {error or 'it is cut off'}") from error


def _members(archive: Path) -> Iterator[_Member]:
    if archive.name.lower().endswith(ZIPS):
        with zipfile.ZipFile(archive) as zipped:
            for info in zipped.infolist():
                kind = stat.S_IFMT(info.external_attr >> 16)
                if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise _refusal(archive, f"holds {info.filename!r}, which is a link or a device")
                is_folder = info.filename.endswith("/")
                is_program = bool(info.external_attr >> 16 & stat.S_IXUSR)
                yield _Member(info.filename, None if is_folder else zipped.open(info), is_program)
        return
    with _decompressed(archive) as file, tarfile.open(fileobj=_Careful(file), mode="r:") as tarred:
        for entry in tarred:
            if not (entry.isreg() or entry.isdir()):
                raise _refusal(archive, f"holds {entry.name!r}, which is a link or a device")
            is_program = bool(entry.mode & stat.S_IXUSR)
            yield _Member(entry.name, None if entry.isdir() else tarred.extractfile(entry), is_program)


def _decompressed(archive: Path) -> IO[bytes]:
    with archive.open("rb") as file:
        first = file.read(6)
    if first.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.open(archive))
    if first.startswith(b"BZh"):
        return bz2.open(archive)
    return lzma.open(archive) if first == b"\xfd7zXZ\x00" else archive.open("rb")


class _Careful:
    """File wrapper that limits reads, because `tarfile` reads a header of any claimed size into memory at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self.tell, self.seek, self.close, self.write = file.tell, file.seek, file.close, file.write
        self._read = file.read

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; raises `ReadError` if `size` is larger than a chunk."""
        if size > _CHUNK_BYTES:
            raise tarfile.ReadError(f"a header in it has {size:,} bytes")
        return self._read(size)


def _everywhere(path: Path) -> str:
    """Return a key that is equal for paths that name one file on case-insensitive or normalizing file systems."""
    return unicodedata.normalize("NFC", str(path)).casefold()


def _safe(name: str, archive: Path) -> PurePosixPath:
    """Return the relative path for an entry's name; raises `pack.archive` if it leads outside of the folder."""
    path = PurePosixPath(name)
    is_outside = path.is_absolute() or ".." in path.parts
    if is_outside or "\\" in name or ":" in path.parts[:1] or "\0" in name or name[1:2] == ":":
        raise _refusal(archive, f"holds {name!r}, a path outside of its folder")
    return path


def _refusal(archive: Path, why: str) -> PackError:
    return PackError(
        f"{archive.name} {why}, so nothing of it is unpacked.",
        "Ask its publisher for a wheel or an archive of plain files.",
        code="pack.archive",
    )
