"""Packs that are not to be added: unsafe archives, broken manifests, wrong names, and what their process says."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalsi_kernel.errors import EvalsiError, PackEnvironmentError, PackError
from evalsi_provisioning import archives
from evalsi_provisioning.archives import unpack
from tests.cli.running import evalsi
from tests.provisioning.adding.third_party import added, strange_tar, strange_zip, tar_of, write_pack, zip_of

SYMLINK = 0o120777


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize(
    "name", ["../out", "a/../../out", "/tmp/out", "..", "C:/out", "a\\..\\..\\out", "..\\out"]
)  # fmt: skip
def test_a_path_out_of_the_folder_is_refused_in_zip_and_tar(name: str, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    for archive in (
        strange_zip(tmp_path / "a.zip", {name: b"x"}),
        strange_tar(tmp_path / "a.tar.gz", member(name)),
    ):
        with pytest.raises(PackError, match="a path outside of its folder") as refused:
            unpack(archive, inner)
        assert refused.value.code == "pack.archive"
    assert sorted(path.name for path in tmp_path.iterdir() if path != inner) == ["a.tar.gz", "a.zip"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_link_or_a_device_in_a_tar_is_refused(kind: bytes, tmp_path: Path) -> None:
    archive = strange_tar(tmp_path / "a.tar.gz", member("src", kind, "/etc"), member("src/passwd"))
    with pytest.raises(PackError, match="a link or a device"):
        unpack(archive, tmp_path / "inner")


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    archive = strange_zip(tmp_path / "a.whl", {"src": b"/etc"}, mode=SYMLINK)
    with pytest.raises(PackError, match="a link or a device"):
        unpack(archive, tmp_path / "inner")


def test_a_name_that_comes_twice_is_refused(tmp_path: Path) -> None:
    archive = strange_tar(tmp_path / "a.tar.gz", member("plugin.toml"), member("plugin.toml"))
    with pytest.raises(PackError, match=r"'plugin\.toml' twice"):
        unpack(archive, tmp_path / "inner")
    archive = strange_tar(tmp_path / "b.tar.gz", member("a"), member("a/b"))
    with pytest.raises(PackError, match="twice"):
        unpack(archive, tmp_path / "inner-b")


@pytest.mark.parametrize("other", ["Plugin.TOML", "src/\u00fc.py"])
def test_two_names_that_are_one_file_on_another_system_are_refused(other: str, tmp_path: Path) -> None:
    archive = strange_zip(tmp_path / "a.zip", {"plugin.toml": b"", "src/u\u0308.py": b"", other: b""})
    with pytest.raises(PackError, match="twice"):
        unpack(archive, tmp_path / "inner")


def test_what_an_archive_names_does_not_act_on_the_terminal(tmp_path: Path) -> None:
    name = "\x1b[2Kplugin.toml"
    for archive in (
        strange_tar(tmp_path / "a.tar.gz", member(name, tarfile.SYMTYPE, "/etc")),
        strange_tar(tmp_path / "b.tar.gz", member(name), member(name)),
        strange_zip(tmp_path / "a.zip", {name: b"/etc"}, mode=SYMLINK),
    ):
        with pytest.raises(PackError) as refused:
            unpack(archive, tmp_path / archive.stem)
        assert "\x1b" not in refused.value.message


@pytest.mark.parametrize("opened", [gzip.open, bz2.open, lzma.open, open], ids=["gz", "bz2", "xz", "plain"])
def test_a_header_that_says_it_is_huge_is_not_read(opened: Callable[..., IO[bytes]], tmp_path: Path) -> None:
    header = member("././@PaxHeader", tarfile.XHDTYPE)
    header.size = 1 << 40
    with opened(tmp_path / "a.tar", "wb") as file:
        file.write(header.tobuf(tarfile.GNU_FORMAT) + bytes(100_000))
    with pytest.raises(PackError, match="a header in it has 1,099,511,627,776 bytes"):
        unpack(tmp_path / "a.tar", tmp_path / "inner")


def test_more_than_the_bounds_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = strange_zip(tmp_path / "large.zip", {"zeros": b"0" * 100_000})
    many = strange_zip(tmp_path / "many.zip", {str(number): b"" for number in range(20)})
    monkeypatch.setattr(archives, "MAX_BYTES", 50_000)
    monkeypatch.setattr(archives, "MAX_FILES", 10)
    with pytest.raises(PackError, match="unpacks to more than"):
        unpack(large, tmp_path / "one")
    with pytest.raises(PackError, match="more than 10 entries"):
        unpack(many, tmp_path / "two")


@given(st.lists(st.text(max_size=300) | st.from_regex(r"\A[a-c./\\:]{0,12}\Z"), max_size=4))
@example([""])
@settings(max_examples=150, deadline=None)
def test_whatever_an_archive_names_lands_below_its_folder_or_nothing_does(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        outer = Path(folder)
        for archive in (outer / "a.zip", outer / "a.tar.gz"):
            inner = outer / "below" / archive.name
            try:
                if archive.suffix == ".zip":
                    strange_zip(archive, dict.fromkeys(names, b"x"))
                else:
                    strange_tar(archive, *map(member, names))
            except (ValueError, UserWarning):
                # Not even an archive can hold such a name.
                continue
            with contextlib.suppress(PackError):
                unpack(archive, inner)
        assert {path.name for path in outer.iterdir()} <= {"a.zip", "a.tar.gz", "below"}
        assert {path.name for path in (outer / "below").glob("*")} <= {"a.zip", "a.tar.gz"}


@pytest.mark.parametrize("name", ["a.zip", "a.whl", "a.tar", "a.tar.gz", "a.tar.xz", "a.tar.bz2"])
def test_bytes_that_are_no_archive_and_one_that_is_cut_off_are_refused(name: str, tmp_path: Path) -> None:
    for content in (b"", b"no archive at all", os.urandom(600)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(PackError) as refused:
            unpack(tmp_path / name, tmp_path / "inner")
        assert refused.value.code == "pack.archive"


def test_a_compressed_archive_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    for number, whole in enumerate((tar_of(folder, tmp_path / "a.tar.gz"), zip_of(folder, tmp_path / "a.zip"))):
        content = whole.read_bytes()
        whole.write_bytes(content[: len(content) // 2])
        with pytest.raises(PackError) as refused:
            unpack(whole, tmp_path / f"cut{number}")
        assert refused.value.code == "pack.archive"


@pytest.mark.parametrize(("name", "compress"), [("a.tar.gz", gzip.compress), ("a.tar.bz2", bz2.compress)])
def test_a_compressed_archive_with_a_wrong_byte_is_refused(
    name: str, compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    whole = compress(gzip.decompress(tar_of(write_pack(tmp_path / "style"), tmp_path / "whole.tar.gz").read_bytes()))
    content = bytearray(whole)
    for at in (3, len(content) // 2, len(content) - 6):
        content[at] ^= 0xFF
        (tmp_path / name).write_bytes(content)
        with pytest.raises(PackError) as refused:
            unpack(tmp_path / name, tmp_path / f"inner{at}")
        assert refused.value.code == "pack.archive"


def test_a_link_in_a_folder_is_refused(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    (folder / "src" / "passwd").symlink_to("/etc/passwd")
    with pytest.raises(PackError, match="src/passwd, which is a link"):
        added(folder, project)


def test_an_archive_of_two_packs_or_of_none_is_refused(project: Path, tmp_path: Path) -> None:
    write_pack(tmp_path / "both" / "one")
    write_pack(tmp_path / "both" / "two", "acme/tone")
    with pytest.raises(PackError, match=r"holds 2 files plugin\.toml"):
        added(zip_of(tmp_path / "both", tmp_path / "both.zip"), project)
    with pytest.raises(PackError, match=r"no plugin\.toml"):
        added(strange_zip(tmp_path / "none.zip", {"readme": b""}), project)


def test_a_plain_name_is_for_packs_of_evalsi_also_where_it_is_taken(project: Path, tmp_path: Path) -> None:
    for name in ("core", "readability"):
        with pytest.raises(PackError, match="plain names are for packs that come with") as refused:
            added(write_pack(tmp_path / name, name), project)
        assert refused.value.code == "pack.name"
    added(write_pack(tmp_path / "acme-core", "acme/core"), project)
    for publisher in ("builtin", "evalsi"):  # A catalog would show what is not ours as "by evalsi".
        with pytest.raises(PackError, match="reserved"):
            added(write_pack(tmp_path / publisher, f"{publisher}/core"), project)


@pytest.mark.parametrize("sign", ["\\u001b[1A", "\\u0085", "\\u2028", "\\u202e", "\\n"])
def test_what_a_manifest_says_does_not_act_on_the_terminal(sign: str, project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style", more=f'[permissions]\nfiles = ["/a{sign}"]\n')
    manifest = folder / "plugin.toml"
    manifest.write_text(manifest.read_text().replace("of a test", f"of a {sign}"), "utf-8")
    with pytest.raises(PackError) as refused:
        added(folder, project)
    places = {problem["at"] for problem in refused.value.details["problems"]}
    assert places == {"summary", "evaluators[0].summary", "permissions.files[0]"}


def test_all_that_is_wrong_with_a_manifest_is_told_at_once_with_its_places(project: Path, tmp_path: Path) -> None:
    more = (
        '[permissions]\nnetwork = ["http://x"]\nfiles = ["etc/passwd", "/a/../b"]\nsecrets = ["no-name"]\n'
        'asks_per_record = { polite = -1, rude = 1 }\nusb = ["all"]\n'
    )
    with pytest.raises(PackError) as refused:
        added(write_pack(tmp_path / "style", more=more), project)
    assert refused.value.code == "pack.manifest"
    assert refused.value.message.startswith(f"{tmp_path / 'style' / 'plugin.toml'}: ")
    places = {problem["at"] for problem in refused.value.details["problems"]}
    assert places >= {
        "permissions.network[0]",
        "permissions.files[0]",
        "permissions.files",
        "permissions.secrets[0]",
        "permissions.asks_per_record.polite",
        "permissions.asks_per_record",
        "permissions.usb",
    }
    assert not (project / "evalsi.lock").exists()


def test_a_number_in_a_manifest_that_is_longer_than_any_is_told(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    manifest = folder / "plugin.toml"
    manifest.write_text(manifest.read_text().replace("memory_mb = 512", f"memory_mb = {'9' * 5_000}"), "utf-8")
    with pytest.raises(PackError, match=r"plugin\.toml is not TOML"):
        added(folder, project)


@pytest.mark.parametrize("name", ["plugin.toml", "uv.lock"])
def test_a_key_of_thousands_of_parts_is_refused_and_not_parsed(project: Path, tmp_path: Path, name: str) -> None:
    folder = write_pack(tmp_path / "style")
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write("\n[tool]\n" + "a." * 5_000 + "b = 1\n")
    with pytest.raises(EvalsiError, match="a key has more than 50 parts"):
        added(folder, project)


def test_a_pack_for_a_newer_protocol_says_that_evalsi_must_move(project: Path, tmp_path: Path) -> None:
    with pytest.raises(PackError, match="protocol is 2") as refused:
        added(write_pack(tmp_path / "style", protocol=2), project)
    assert refused.value.hint == "Upgrade Evals.si."


def test_a_pack_without_a_lock_or_with_one_without_hashes_is_refused(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    lock = folder / "uv.lock"
    lines = lock.read_text("utf-8").splitlines()
    lock.write_text("\n".join(line.replace(', hash = "sha256:', ', hush = "sha256:') for line in lines), "utf-8")
    with pytest.raises(PackEnvironmentError, match="has no hash for") as unhashed:
        added(folder, project)
    assert unhashed.value.code == "environment.lock_unhashed"
    lock.unlink()
    with pytest.raises(PackEnvironmentError, match=r"has no uv\.lock") as unlocked:
        added(folder, project)
    assert unlocked.value.code == "environment.no_lock"
    lock.write_text("not = [toml")
    with pytest.raises(EvalsiError) as unreadable:
        added(folder, project)
    assert unreadable.value.code == "environment.lock_unreadable"


def test_a_manifest_that_differs_from_what_the_process_says_is_refused(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    code = folder / "src" / "acme_style.py"
    code.write_text(code.read_text("utf-8").replace("version=1", "version=2").replace("'polite'", "'rude'"), "utf-8")
    done = evalsi("plugins", "add", folder, cwd=project)
    assert done.code == 1
    assert "polite: only its manifest has it" in done.err
    assert "rude: only its process has it" in done.err
    assert not (project / "evalsi.lock").exists()
    write_pack(folder)
    code.write_text(code.read_text("utf-8").replace('needs=["output"]', "needs=['reference']"), "utf-8")
    done = evalsi("plugins", "add", folder, cwd=project)
    assert "polite: needs is ['output'] in its manifest, and ['reference']" in done.err


def test_a_pack_that_cannot_start_is_not_added(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style")
    (folder / "src" / "acme_style.py").write_text("raise RuntimeError('no')", "utf-8")
    done = evalsi("plugins", "add", folder, cwd=project)
    assert done.code == 1
    assert "Traceback (most recent call last)" not in done.err.splitlines()[0]
    assert not (project / "evalsi.lock").exists()
