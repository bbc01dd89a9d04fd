"""P11: publishers sign releases; a project pins the key that it saw first, and refuses what that key did not sign."""

from __future__ import annotations

import base64
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed448, rsa

from evalsi_kernel.errors import ConfigError, EvalsiError, PackError
from evalsi_provisioning.pack_index import Signature
from evalsi_provisioning.publishing import publish
from evalsi_provisioning.signatures import make_key, read_key, sign, verify
from tests.cli.running import evalsi
from tests.provisioning.adding.third_party import added, digest, recorded, write_pack, zip_of

NAME = "acme/style"


class Publisher:
    """Publishes releases of a pack into an index, with keys of its own.

    Args:
        folder: where all of that lies.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = folder / "index.json"
        self.key = folder / "key.pem"
        self.fingerprint = make_key(self.key)

    def release(self, version: str, key: Path | None, body: str = "return True") -> Path:
        pack = write_pack(self.folder / "pack", version=version, body=body)
        archive = zip_of(pack, self.folder / f"style-{version}.zip")
        publish(archive, self.index, None, key)
        return archive

    def another_key(self) -> tuple[Path, str]:
        key = self.folder / "another.pem"
        return key, make_key(key)

    def edit(self, edit: Callable[[list[dict[str, Any]]], object]) -> None:
        """Change the releases in the index, as one could who may write that file."""
        tables = json.loads(self.index.read_text("utf-8"))
        edit(tables["packs"][0]["versions"])
        self.index.write_text(json.dumps(tables), "utf-8")


@pytest.fixture
def publisher(tmp_path: Path) -> Publisher:
    folder = tmp_path / "publisher"
    folder.mkdir()
    return Publisher(folder)


def refused(code: str, do: Callable[[], object]) -> EvalsiError:
    with pytest.raises(EvalsiError) as error:
        do()
    assert error.value.code == code
    return error.value


def update(project: Path, publisher: Publisher, **rules: Any) -> None:
    added(NAME, project, index=publisher.index, may_change=True, **rules)


def test_p11_a_signed_release_is_added_and_its_key_is_pinned(project: Path, publisher: Publisher) -> None:
    publisher.release("1.0.0", publisher.key)
    added(NAME, project, index=publisher.index)
    assert recorded(project)[NAME]["signer"] == publisher.fingerprint
    publisher.release("1.1.0", publisher.key, "return False")
    update(project, publisher)
    assert (recorded(project)[NAME]["version"], recorded(project)[NAME]["signer"]) == ("1.1.0", publisher.fingerprint)


def test_p11_an_unsigned_pack_is_added_and_nothing_is_pinned(project: Path, publisher: Publisher) -> None:
    publisher.release("1.0.0", None)
    added(NAME, project, index=publisher.index)
    assert "signer" not in recorded(project)[NAME]
    assert "signature" not in publisher.index.read_text("utf-8")
    # A publisher may begin to sign; from then on the key counts.
    publisher.release("1.1.0", publisher.key, "return False")
    update(project, publisher)
    assert recorded(project)[NAME]["signer"] == publisher.fingerprint


@pytest.mark.parametrize("is_signed", [True, False])
def test_p11_an_update_by_another_key_or_without_one_is_refused(
    is_signed: bool, project: Path, publisher: Publisher
) -> None:
    publisher.release("1.0.0", publisher.key)
    added(NAME, project, index=publisher.index)
    before = (project / "evalsi.lock").read_bytes()
    key, fingerprint = publisher.another_key()
    publisher.release("1.1.0", key if is_signed else None, "return False")
    error = refused("pack.signature", lambda: update(project, publisher))
    assert publisher.fingerprint in str(error)
    assert (fingerprint if is_signed else "unsigned") in str(error)
    assert error.hint
    assert (project / "evalsi.lock").read_bytes() == before


def test_p11_a_new_key_is_taken_where_the_user_names_it(project: Path, publisher: Publisher) -> None:
    publisher.release("1.0.0", publisher.key)
    added(NAME, project, index=publisher.index)
    key, fingerprint = publisher.another_key()
    publisher.release("1.1.0", key, "return False")
    refused("pack.signature", lambda: update(project, publisher, key="0" * 64))
    update(project, publisher, key=fingerprint)
    assert recorded(project)[NAME]["signer"] == fingerprint
    # From then on the old one is the other key.
    publisher.release("1.2.0", publisher.key)
    refused("pack.signature", lambda: update(project, publisher))


@pytest.mark.parametrize("is_signed", [True, False])
def test_p11_a_first_add_with_a_key_takes_only_what_that_key_signed(
    is_signed: bool, project: Path, publisher: Publisher
) -> None:
    _, other = publisher.another_key()
    publisher.release("1.0.0", publisher.key if is_signed else None)
    refused("pack.signature", lambda: added(NAME, project, index=publisher.index, key=other))
    assert not (project / "evalsi.lock").exists()
    if is_signed:
        added(NAME, project, index=publisher.index, key=publisher.fingerprint)
        assert recorded(project)[NAME]["signer"] == publisher.fingerprint


def test_p11_a_signature_of_another_release_is_refused(project: Path, publisher: Publisher) -> None:
    publisher.release("1.0.0", publisher.key)
    publisher.release("1.1.0", publisher.key, "return False")

    def swap(versions: list[dict[str, Any]]) -> None:
        versions[0]["signature"], versions[1]["signature"] = versions[1]["signature"], versions[0]["signature"]

    publisher.edit(swap)
    refused("pack.signature", lambda: added(NAME, project, index=publisher.index))
    assert not (project / "evalsi.lock").exists()


def test_p11_the_public_key_of_another_under_a_signature_is_refused(project: Path, publisher: Publisher) -> None:
    key, _ = publisher.another_key()
    publisher.release("1.0.0", publisher.key)
    stranger = sign(read_key(key), NAME, "1.0.0", "0" * 64)
    publisher.edit(lambda versions: versions[0]["signature"].update(public_key=stranger.public_key))
    refused("pack.signature", lambda: added(NAME, project, index=publisher.index))


def test_p11_a_tampered_archive_is_refused_with_and_without_its_new_digest(project: Path, publisher: Publisher) -> None:
    archive = publisher.release("1.0.0", publisher.key)
    zip_of(write_pack(publisher.folder / "pack", version="1.0.0", body="return False"), archive)
    refused("pack.source", lambda: added(NAME, project, index=publisher.index))
    publisher.edit(lambda versions: versions[0].update(sha256=digest(archive)))
    refused("pack.signature", lambda: added(NAME, project, index=publisher.index))
    refused("pack.signature", lambda: added(NAME, project, index=publisher.index, key=publisher.fingerprint))


def test_p11_a_bad_signature_is_refused_also_for_bytes_that_are_recorded(project: Path, publisher: Publisher) -> None:
    publisher.release("1.0.0", publisher.key)
    added(NAME, project, index=publisher.index)
    other = sign(read_key(publisher.key), NAME, "9.9.9", "0" * 64)
    publisher.edit(lambda versions: versions[0]["signature"].update(value=other.value))
    refused("pack.signature", lambda: added(NAME, project, index=publisher.index))
    refused("pack.signature", lambda: update(project, publisher))


@pytest.mark.parametrize(
    "signature",
    [
        {"public_key": "short", "value": "short"},
        {"public_key": "A" * 43 + "="},
        {"value": "A" * 86 + "=="},
        "signed",
        {"public_key": "A" * 42 + "\n=", "value": "A" * 86 + "=="},
    ],
)
def test_p11_a_signature_that_is_none_makes_the_index_unfit(
    signature: object, project: Path, publisher: Publisher
) -> None:
    publisher.release("1.0.0", publisher.key)
    publisher.edit(lambda versions: versions[0].update(signature=signature))
    refused("config.index", lambda: added(NAME, project, index=publisher.index))


@pytest.mark.parametrize(
    "public",
    [
        "00" * 32,
        "01" + "00" * 31,
        "ec" + "ff" * 30 + "7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ed" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "ff",
        "00" * 31 + "80",
    ],
)
def test_p11_a_key_for_which_anyone_can_sign_verifies_nothing(public: str) -> None:
    point = bytes.fromhex(public)
    signature = Signature(
        public_key=base64.b64encode(point).decode(), value=base64.b64encode(point + bytes(32)).decode()
    )
    for number in range(64):
        refused("pack.signature", partial(verify, signature, NAME, f"1.{number}", "0" * 64))


def test_p11_the_same_bytes_stay_signed_where_the_index_drops_the_signature(
    project: Path, publisher: Publisher
) -> None:
    archive = publisher.release("1.0.0", publisher.key)
    added(NAME, project, index=publisher.index)
    publisher.edit(lambda versions: versions[0].pop("signature"))
    update(project, publisher)
    added(archive, project)
    assert recorded(project)[NAME]["signer"] == publisher.fingerprint


def test_p11_an_archive_by_its_path_is_no_way_around_a_pinned_key(project: Path, publisher: Publisher) -> None:
    publisher.release("1.0.0", publisher.key)
    added(NAME, project, index=publisher.index)
    pack = write_pack(publisher.folder / "pack", version="1.1.0", body="return False")
    refused("pack.signature", lambda: added(zip_of(pack, publisher.folder / "new.zip"), project, may_change=True))


def test_p11_a_fresh_clone_restores_a_signed_pack_from_evalsi_lock(project: Path, publisher: Publisher) -> None:
    publisher.release("1.0.0", publisher.key)
    added(NAME, project, index=publisher.index)
    shutil.rmtree(project / ".evalsi")
    before = (project / "evalsi.lock").read_bytes()
    stranger = evalsi("plugins", "add", "--locked", "--no-start", "--key", "0" * 64, cwd=project)
    assert stranger.code == 1
    assert "--key names" in stranger.err
    done = evalsi("plugins", "add", "--locked", "--no-start", "--key", publisher.fingerprint, cwd=project)
    assert (done.code, (project / "evalsi.lock").read_bytes()) == (0, before), done.err


def test_p11_commands_say_who_signed_what(project: Path, tmp_path: Path) -> None:
    index, key = tmp_path / "index.json", tmp_path / "key.pem"
    made = evalsi("plugins", "keygen", key)
    fingerprint = made.out.splitlines()[-1]
    archive = zip_of(write_pack(tmp_path / "style"), tmp_path / "style.zip")
    assert evalsi("plugins", "publish", archive, "--index", index).out.endswith(", unsigned\n")
    for _ in range(2):
        done = evalsi("plugins", "publish", archive, "--index", index, "--sign", key)
        assert done.out.endswith(f", signed by {fingerprint}\n")
    assert f"signed by {fingerprint}" in evalsi("plugins", "show", NAME, "--index", index).out
    shown = evalsi("plugins", "add", NAME, "--index", index, "--no-start", cwd=project)
    assert f"  signed by {fingerprint}, a key not seen before" in shown.out
    again = evalsi("plugins", "update", NAME, "--index", index, "--no-start", "--key", fingerprint.upper(), cwd=project)
    assert f"  signed by {fingerprint}\n" in again.out
    other = zip_of(write_pack(tmp_path / "tone", "acme/tone", evaluator="kind"), tmp_path / "tone.zip")
    assert "\n  unsigned\n" in evalsi("plugins", "add", other, "--no-start", cwd=project).out
    rows = {one["pack"]: one["signed_by"] for one in json.loads(listing(project, "--format", "json"))}
    assert (rows[NAME], rows["acme/tone"], rows["core"]) == (fingerprint, "unsigned", None)
    lines = {line.split()[0]: line.split()[-1] for line in listing(project).splitlines()}
    assert (lines[NAME], lines["acme/tone"], lines["core"]) == (fingerprint[:16], "unsigned", "-")
    assert evalsi("plugins", "add", NAME, "--key", "abc", cwd=project).code == 2


def listing(project: Path, *flags: str) -> str:
    done = evalsi("plugins", "list", *flags, cwd=project)
    assert done.code == 0, done.err
    return done.out


def test_p11_a_listing_of_a_project_whose_lock_is_damaged_says_so(project: Path) -> None:
    (project / "evalsi.lock").write_text("{")
    done = evalsi("plugins", "list", cwd=project)
    assert (done.code, "is damaged" in done.err) == (0, True)


def test_p11_a_release_that_another_key_signed_is_not_signed_over(publisher: Publisher) -> None:
    archive = publisher.release("1.0.0", publisher.key)
    key, _ = publisher.another_key()
    before = publisher.index.read_bytes()
    refused("pack.signature", lambda: publish(archive, publisher.index, None, key))
    # Without a key what is listed stays signed.
    assert publish(archive, publisher.index, None).signer == publisher.fingerprint
    assert publisher.index.read_bytes() == before


@pytest.mark.parametrize("is_signed", [True, False])
def test_p11_a_publisher_is_warned_of_a_release_that_users_will_refuse(is_signed: bool, publisher: Publisher) -> None:
    publisher.release("1.0.0", publisher.key)
    key, _ = publisher.another_key()
    archive = zip_of(write_pack(publisher.folder / "pack", version="1.1.0"), publisher.folder / "new.zip")
    done = publish(archive, publisher.index, None, key if is_signed else None)
    assert done.other_signer == publisher.fingerprint


def test_p11_a_key_is_for_its_owner_only_and_is_never_replaced(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    before = os.umask(0)
    try:
        make_key(key)
    finally:
        os.umask(before)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    text = key.read_bytes()
    refused("config.signing_key", lambda: make_key(key))
    assert key.read_bytes() == text
    dangling = tmp_path / "link.pem"
    dangling.symlink_to(tmp_path / "elsewhere.pem")
    refused("config.signing_key", lambda: make_key(dangling))
    refused("config.signing_key", lambda: make_key(tmp_path / "none" / "key.pem"))
    assert not (tmp_path / "elsewhere.pem").exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_p11_a_key_that_others_may_read_or_change_signs_nothing(mode: int, publisher: Publisher) -> None:
    publisher.key.chmod(mode)
    refused("config.signing_key", lambda: publisher.release("1.0.0", publisher.key))
    assert not publisher.index.exists()


def test_p11_the_signature_in_the_page_of_the_format_verifies() -> None:
    # Its key is the first test vector of RFC 8032, so that another implementation can be tried on it.
    page = (Path(__file__).parents[3] / "docs" / "reference" / "pack-index.md").read_text("utf-8")
    (pack,) = json.loads(page.split("```json\n")[1].split("```")[0])["packs"]
    (release,) = pack["versions"]
    verify(Signature.model_validate(release["signature"]), pack["name"], release["version"], release["sha256"])


def pem(key: Any, password: bytes = b"") -> bytes:
    protection = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    text: bytes = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, protection)
    return text


@pytest.mark.parametrize(
    "spoil",
    [
        lambda key: key[: len(key) // 2],
        lambda key: key[:-2],
        lambda _: b"",
        lambda _: b"\xff\x00" * 40,
        lambda key: key * 200,
        lambda _: pem(rsa.generate_private_key(65537, 2048)),
        lambda _: pem(ed448.Ed448PrivateKey.generate()),
        lambda key: pem(serialization.load_pem_private_key(key, None), b"secret"),
    ],
    ids=["half", "no-last-bytes", "empty", "binary", "too-large", "rsa", "ed448", "password"],
)
def test_p11_a_key_file_that_is_damaged_or_of_another_kind_is_refused(
    spoil: Callable[[bytes], bytes], publisher: Publisher
) -> None:
    publisher.key.write_bytes(spoil(publisher.key.read_bytes()))
    error = refused("config.signing_key", lambda: publisher.release("1.0.0", publisher.key))
    assert isinstance(error, ConfigError)
    assert not publisher.index.exists()


def test_p11_a_key_that_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    for path in (pipe, tmp_path, tmp_path / "none"):
        refused("config.signing_key", partial(read_key, path))


def test_p11_commands_that_verify_nothing_do_not_load_cryptography() -> None:
    check = "import sys, evalsi_provisioning.command; sys.exit('cryptography' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


@pytest.mark.parametrize("part", range(3))
def test_p11_a_signature_covers_name_version_and_digest(part: int, publisher: Publisher) -> None:
    release = [NAME, "1.0.0", "a" * 64]
    signature = sign(read_key(publisher.key), *release)
    verify(signature, *release)
    release[part] = {0: "acme/styles", 1: "1.0.1", 2: "b" * 64}[part]
    with pytest.raises(PackError):
        verify(signature, *release)
