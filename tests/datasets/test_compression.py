"""gzip and zstd: every format, several members and frames, cut-off and damaged archives."""

import gzip
import hashlib
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from tests.datasets.reading import drain, fault_of, open_source, read

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstd.compress,
    ".zstd": zstd.compress,
}
FORMATS = {
    ".jsonl": b'{"a": "1"}\n{"a": "2"}\n',
    ".ndjson": b'{"a": "1"}\n{"a": "2"}\n',
    ".json": b'[{"a": "1"}, {"a": "2"}]',
    ".csv": b"a\n1\n2\n",
    ".tsv": b"a\n1\n2\n",
}


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_text_format_is_read_from_every_archive(tmp_path: Path, suffix: str, compression: str) -> None:
    path = tmp_path / f"QA{suffix}{compression}".upper()
    path.write_bytes(COMPRESS[compression](FORMATS[suffix]))

    assert read(path).rows == [{"a": "1"}, {"a": "2"}]


@pytest.mark.parametrize("compression", COMPRESS)
def test_members_and_frames_that_follow_one_another_are_all_read(tmp_path: Path, compression: str) -> None:
    path = tmp_path / f"qa.jsonl{compression}"
    compress = COMPRESS[compression]
    path.write_bytes(compress(b'{"a": 1}\n{"a"') + compress(b"") + compress(b": 2}\n") + compress(b'{"a": 3}\n'))

    reading = read(path)

    assert reading.rows == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert len(reading.chunk_lengths) == 1


def test_a_frame_that_is_to_be_skipped_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl.zst"
    path.write_bytes(b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstd.compress(b'{"a": 1}\n'))

    assert read(path).rows == [{"a": 1}]


def test_zeros_behind_a_gzip_archive_are_padding(tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n') + b"\0" * 512)

    assert read(path).rows == [{"a": 1}]


def noise(count: int) -> bytes:
    """JSON lines that hardly shrink, so that a cut falls into the data."""
    return b"".join(b'{"a": "%s"}\n' % random.Random(seed).randbytes(200).hex().encode() for seed in range(count))


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("part", [0.05, 0.5, 0.999])
def test_a_cut_off_archive_is_an_error_with_the_byte_where_it_ends(
    tmp_path: Path, compression: str, part: float
) -> None:
    path = tmp_path / f"qa.jsonl{compression}"
    whole = COMPRESS[compression](noise(2_000))
    path.write_bytes(whole[: int(len(whole) * part)])

    told, remedy, before = fault_of(path)

    assert told.startswith(f"qa.jsonl{compression}, byte {int(len(whole) * part)}: the ")
    assert told.endswith("archive is cut off here.")
    assert remedy == "Make it again, or fetch it whole."
    assert len(before) < 2_000


def checksummed_zstd(data: bytes) -> bytes:
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


@pytest.mark.parametrize("suffix", COMPRESS)
def test_an_archive_whose_checksum_does_not_fit_is_an_error(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"qa.jsonl{suffix}"
    compress = gzip.compress if suffix == ".gz" else checksummed_zstd
    whole = bytearray(compress(noise(200)))
    # The last four bytes of a zstd frame are its checksum; behind that of gzip its length follows.
    whole[-7 if suffix == ".gz" else -3] ^= 0xFF
    path.write_bytes(whole)

    told, remedy, _ = fault_of(path)

    assert f"qa.jsonl{suffix}, before byte {len(whole)}: " in told
    assert "or a damaged one" in told
    assert "fetch it again" in remedy


@pytest.mark.parametrize("compression", COMPRESS)
def test_an_empty_file_is_no_archive(tmp_path: Path, compression: str) -> None:
    path = tmp_path / f"qa.jsonl{compression}"
    path.touch()

    told, remedy, _ = fault_of(path)

    assert told.startswith(f"qa.jsonl{compression}, byte 0: the ")
    assert told.endswith("archive is cut off here.")
    assert remedy == "Make it again, or fetch it whole."


@pytest.mark.parametrize("compression", COMPRESS)
def test_plain_text_named_as_an_archive_is_an_error(tmp_path: Path, compression: str) -> None:
    path = tmp_path / f"qa.jsonl{compression}"
    path.write_bytes(b'{"a": 1}\n')

    told, remedy, _ = fault_of(path)

    assert "archive, or a damaged one" in told
    assert "off its name" in remedy


@pytest.mark.parametrize(("compression", "hint"), [(".gz", "Add .gz"), (".zst", "Add .zst")])
def test_an_archive_named_as_plain_text_is_named(tmp_path: Path, compression: str, hint: str) -> None:
    path = tmp_path / "qa.jsonl"
    path.write_bytes(COMPRESS[compression](b'{"a": 1}\n'))

    told, remedy, _ = fault_of(path)

    assert "archive, by its first bytes" in told
    assert remedy.startswith(hint)


@pytest.mark.parametrize("compression", ["", *COMPRESS])
def test_the_hash_is_that_of_the_file_as_it_lies_on_disk(tmp_path: Path, compression: str) -> None:
    path = tmp_path / f"qa.jsonl{compression}"
    path.write_bytes(COMPRESS.get(compression, bytes)(noise(500)))
    source = open_source(path)
    assert source.sha256() is None

    drain(source)

    assert source.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("compression", ["", *COMPRESS])
def test_a_file_that_is_not_read_to_its_end_has_no_hash(tmp_path: Path, compression: str) -> None:
    path = tmp_path / f"qa.jsonl{compression}"
    path.write_bytes(COMPRESS.get(compression, bytes)(noise(500)))
    source = open_source(path)

    next(source.chunks())

    assert source.sha256() is None


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_text_format_is_read_to_the_end_of_its_bytes_and_hashed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"qa{suffix}"
    path.write_bytes(FORMATS[suffix] + b"\n \n" * (suffix == ".json"))

    assert read(path).source.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_that_is_refused_on_the_way_has_no_hash(tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl"
    path.write_bytes(b"{}\n[]\n" + noise(1000))

    assert drain(open_source(path)).source.sha256() is None
