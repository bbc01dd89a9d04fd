"""Services under TLS: no byte before the certificate is checked, and clients that the service asks to show one."""

from __future__ import annotations

import datetime
import socket
from pathlib import Path

import pytest
import trustme

from tests.cli.running import Done, evalsi
from tests.provisioning.adding.third_party import recorded, write_pack
from tests.provisioning.services.running import Service, outcomes, scored, serving

PORT = "tls://127.0.0.1:0"


class Authority:
    """Who signs certificates, and the files of those that it signed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._authority = trustme.CA()
        self.ca = folder / "authority.pem"
        self._authority.cert_pem.write_to_path(self.ca)

    def sign(self, name: str, *, not_after: datetime.datetime | None = None) -> tuple[Path, Path]:
        """The files of a certificate and its key."""
        made = self._authority.issue_cert(name, not_after=not_after)
        cert, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        cert.write_bytes(b"".join(blob.bytes() for blob in made.cert_chain_pems))
        made.private_key_pem.write_to_path(key)
        return cert, key


@pytest.fixture
def authority(project: Path) -> Authority:
    return Authority(project / "certificates")


def flags(pair: tuple[Path, Path]) -> tuple[str | Path, ...]:
    return "--tls-cert", pair[0], "--tls-key", pair[1]


def attach(service: Service, project: Path, *words: str | Path) -> Done:
    return evalsi("plugins", "attach", service.address, *words, cwd=project)


def test_a_pack_is_attached_and_scores_under_tls(project: Path, tmp_path: Path, authority: Authority) -> None:
    with serving(write_pack(tmp_path / "style"), PORT, *flags(authority.sign("127.0.0.1"))) as service:
        done = attach(service, project, "--ca", authority.ca)
        assert done.code == 0, done.err
        assert recorded(project)["acme/style"]["options"] == {"ca": "certificates/authority.pem"}
        # What is trusted was copied and is pinned with the pack: the file may go, but not change.
        authority.ca.unlink()
        assert outcomes(scored(project)[1]) == ["scored", "scored", "skipped"]
        copied = project / ".evalsi" / "packs" / "acme+style" / "ca.pem"
        copied.write_bytes(copied.read_bytes() + b"\n")
        changed, _ = scored(project)
    assert changed.code == 1
    assert "SHA-256 of its files" in changed.err


def test_a_certificate_that_nobody_trusted_has_signed_is_refused(
    project: Path, tmp_path: Path, authority: Authority
) -> None:
    other = Authority(tmp_path / "other")
    with serving(write_pack(tmp_path / "style"), PORT, *flags(authority.sign("127.0.0.1"))) as service:
        for words in ((), ("--ca", other.ca)):
            done = attach(service, project, *words)
            assert done.code == 1
            assert "does not show a certificate to trust: unable to get local issuer certificate" in done.err
    assert not [line for line in service.lines if "session" in line]


def test_a_certificate_for_another_name_or_of_another_time_is_refused(
    project: Path, tmp_path: Path, authority: Authority
) -> None:
    pack = write_pack(tmp_path / "style")
    with serving(pack, PORT, *flags(authority.sign("packs.example.com"))) as service:
        done = attach(service, project, "--ca", authority.ca)
        assert (done.code, "IP address mismatch" in done.err) == (1, True)
        done = attach(service, project, "--ca", authority.ca, "--server-name", "packs.example.com")
        assert done.code == 0, done.err
        assert outcomes(scored(project)[1]) == ["scored", "scored", "skipped"]
    past = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    with serving(pack, PORT, *flags(authority.sign("127.0.0.1", not_after=past))) as service:
        done = attach(service, project, "--ca", authority.ca)
        assert (done.code, "certificate has expired" in done.err) == (1, True)


def test_a_service_may_ask_who_connects(project: Path, tmp_path: Path, authority: Authority) -> None:
    clients = Authority(tmp_path / "clients")
    pair = clients.sign("ci.example.com")
    words = (*flags(authority.sign("127.0.0.1")), "--client-ca", clients.ca)
    with serving(write_pack(tmp_path / "style"), PORT, *words) as service:
        done = attach(service, project, "--ca", authority.ca)
        assert done.code == 1
        assert "it closed the connection before its first word, as one does that asks for a certificate" in done.err
        service.wait_for("a connection was turned away: peer did not return a certificate")
        (project / "ci.pem").write_bytes(pair[0].read_bytes())
        (project / "ci.key").write_bytes(pair[1].read_bytes())
        shown = ("--ca", authority.ca, "--cert", "ci.pem", "--key", "ci.key")
        done = attach(service, project, *shown)
        assert done.code == 0, done.err
        assert outcomes(scored(project)[1]) == ["scored", "scored", "skipped"]
    held = [path.read_bytes() for path in (project / ".evalsi").rglob("*") if path.is_file()]
    assert not [text for text in held if b"PRIVATE KEY" in text]


def test_a_client_that_speaks_no_tls_is_turned_away_and_the_service_goes_on(
    project: Path, tmp_path: Path, authority: Authority
) -> None:
    with serving(write_pack(tmp_path / "style"), PORT, *flags(authority.sign("127.0.0.1"))) as service:
        host, _, port = service.address.removeprefix("tls://").partition(":")
        with socket.create_connection((host, int(port))) as plain:
            plain.sendall(b"\x00\x00\x00\x05hello")
            assert plain.recv(100)[:1] in (b"", b"\x15")
            service.wait_for("a connection was turned away: ")
        assert attach(service, project, "--ca", authority.ca).code == 0
    with serving(tmp_path / "style", "tcp://127.0.0.1:0") as plain_service:
        plain_service.address = plain_service.address.replace("tcp://", "tls://")
        done = attach(plain_service, project, "--ca", authority.ca)
        assert done.code == 1
        assert "Nobody answers at" in done.err


def test_a_key_that_is_not_the_certificates_is_told_on_both_sides(
    project: Path, tmp_path: Path, authority: Authority
) -> None:
    cert, _ = authority.sign("127.0.0.1")
    _, other = authority.sign("packs.example.com")
    pack = write_pack(tmp_path / "style")
    done = evalsi("plugins", "serve", pack, "--listen", PORT, "--tls-cert", cert, "--tls-key", other)
    assert done.code == 1
    assert "cannot be read" in done.err
    done = evalsi("plugins", "attach", "tls://127.0.0.1:9", "--cert", cert, "--key", other, cwd=project)
    assert done.code == 1
    assert "cannot be read" in done.err
