"""Owns the refusal of bytes that are not UTF-8, and the guess at what they are instead.

It must not know a format.
"""

from __future__ import annotations

from evalsi_kernel.errors import DatasetError

# What the first bytes of a file tell of it; the longer ones come first, since UTF-32's begin with UTF-16's.
_BEGINNINGS = {
    b"\xff\xfe\0\0": ("UTF-32", "Save it as UTF-8."),
    b"\0\0\xfe\xff": ("UTF-32", "Save it as UTF-8."),
    b"\xff\xfe": ("UTF-16", "Save it as UTF-8."),
    b"\xfe\xff": ("UTF-16", "Save it as UTF-8."),
    b"\x1f\x8b": ("a gzip archive", "Add .gz to its name; decompress a stream before it is read."),
    b"\x28\xb5\x2f\xfd": ("a zstd archive", "Add .zst to its name; decompress a stream before it is read."),
    b"PAR1": ("a Parquet file", "End its name in .parquet."),
    b"PK\x03\x04": ("a zip archive or a spreadsheet", "End the name of an Excel workbook in .xlsx; unpack an archive."),
    b"\xd0\xcf\x11\xe0": (
        "an Excel 97 workbook, or an encrypted one",
        "Save it as .xlsx without a password, or as CSV.",
    ),
}


def decode_utf8(line: bytes, where: str, *, ended: bool) -> str:
    """Return the text of a line.

    Args:
        line: its bytes.
        where: its place, for the error.
        ended: whether a line end follows it; only the last line of a stream may go without.

    Raises:
        DatasetError: it is not UTF-8, or cut off inside a character.
    """
    try:
        return line.decode()
    except UnicodeDecodeError as cause:
        if not ended and is_cut_off(cause):
            raise DatasetError(
                f"{where}, byte {cause.start + 1}: the last line is cut off in the middle of a character.",
                "Write the record again, or remove the line; if the file is whole, save it as UTF-8.",
            ) from cause
        raise DatasetError(
            f"{where}, byte {cause.start + 1}: 0x{line[cause.start]:02X} is not UTF-8.", "Save the file as UTF-8."
        ) from cause


def is_cut_off(cause: UnicodeDecodeError) -> bool:
    """Whether the bytes are UTF-8 so far, and end inside a character."""
    return cause.reason == "unexpected end of data"


def refuse_wrong_kind(where: str, head: bytes) -> None:
    """Raise `DatasetError` where the first bytes of a stream are those of another kind of file."""
    for beginning, (kind, hint) in _BEGINNINGS.items():
        if head.startswith(beginning):
            raise DatasetError(f"{where}: this is {kind}, by its first bytes.", hint)
    # The first character of text is mostly one of ASCII, whose other bytes are then zero.
    if head.count(b"\0") == 3 or head[:2].count(b"\0") == 1:
        kind = "UTF-32" if head.count(b"\0") == 3 else "UTF-16"
        raise DatasetError(f"{where}: this looks like {kind}, by its first bytes.", "Save it as UTF-8.")
