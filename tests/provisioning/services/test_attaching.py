"""`evalsi plugins attach`: a pack that runs elsewhere is recorded, held and run like one that was added."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from evalsi_protocol.unix_sockets import bind_unix
from tests.cli.running import BOUND_S, evalsi
from tests.providers import KEY, MODEL, Provider
from tests.provisioning.adding.test_asking import judging
from tests.provisioning.adding.third_party import added, recorded, tar_of, write_pack
from tests.provisioning.services.running import outcomes, scored, serving

LENGTH = "return len(record.output.as_text())"


def values(results: list[dict[str, object]]) -> list[object]:
    return [one.get("scores") for one in results]


def test_a_pack_that_runs_as_a_service_scores_as_one_that_was_added(project: Path, tmp_path: Path, at: str) -> None:
    pack = write_pack(tmp_path / "style", body=LENGTH)
    with serving(pack, at):
        done = evalsi("plugins", "attach", at, cwd=project)
        assert done.code == 0, done.err
        assert f"from {at}" in done.out
        assert done.out.endswith("added acme/style 1.0.0; evalsi.lock records it\n")
        assert "network  none                declared only" in done.out
        assert "memory   2,048 MB a process  declared only" in done.out
        as_service, of_service = scored(project)
    assert as_service.code == 0, as_service.err
    entry = recorded(project)["acme/style"]
    assert (entry["origin"], entry["source"], entry["lock_sha256"]) == ("service", at, None)
    assert entry["evaluators"] == {"polite": "1"}
    assert "options" not in entry

    assert evalsi("plugins", "remove", "acme/style", cwd=project).code == 0
    added(pack, project)
    as_added, of_added = scored(project)
    assert outcomes(of_service) == ["scored", "scored", "skipped"]
    assert values(of_service) == values(of_added)
    assert as_service.out == as_added.out


def test_a_fresh_clone_restores_it_from_evalsi_lock_alone(project: Path, tmp_path: Path, at: str) -> None:
    with serving(write_pack(tmp_path / "style", body=LENGTH), at):
        assert evalsi("plugins", "attach", at, cwd=project).code == 0
        shutil.rmtree(project / ".evalsi")
        done = evalsi("plugins", "add", "--locked", cwd=project)
        assert (done.code, done.out.splitlines()[-1]) == (0, "acme/style 1.0.0 is as evalsi.lock says")
        assert outcomes(scored(project)[1]) == ["scored", "scored", "skipped"]


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "broke the protocol: A frame has 1,213,486,160 bytes"),
        (b"\x00\x00\x00\x01\xc1", "broke the protocol"),
        (b"", "could not start: it "),
    ],
)
def test_what_answers_and_is_no_pack_is_told(says: bytes, told: str, project: Path, at: str) -> None:
    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1)
            connection.sendall(says)

    with bind_unix(at.removeprefix("unix://")) as listener:
        listener.listen()
        answering = threading.Thread(target=answer)
        answering.start()
        done = evalsi("plugins", "attach", at, cwd=project)
        answering.join(BOUND_S)
    assert done.code == 1
    assert f"The pack {at} {told}" in done.err
    assert done.err.endswith("\n  See the log of the service, and whether it speaks the protocol of packs.\n")


def test_files_that_name_a_service_are_not_added_since_nobody_was_asked_whether_records_may_go_there(
    project: Path, tmp_path: Path
) -> None:
    pack = write_pack(tmp_path / "style")
    manifest = pack / "plugin.toml"
    run = 'runtime = "service"\nmodule = "service.toml"'
    manifest.write_text(manifest.read_text().replace('module = "acme_style"', run), "utf-8")
    (pack / "service.toml").write_text('address = "tls://packs.example.com:7700"\n', "utf-8")
    for source in (pack, tar_of(pack, tmp_path / "style.tar.gz")):
        done = evalsi("plugins", "add", source, "--no-start", "--grant", "all", cwd=project)
        assert done.code == 1
        assert "runs elsewhere as a service" in done.err
        assert "evalsi plugins attach ADDRESS" in done.err
    assert not (project / "evalsi.lock").exists()


def test_a_service_that_became_another_stops_until_that_is_meant(project: Path, tmp_path: Path, at: str) -> None:
    with serving(write_pack(tmp_path / "style"), at):
        assert evalsi("plugins", "attach", at, cwd=project).code == 0
    pack = write_pack(tmp_path / "newer", version="1.1.0")
    for path in (pack / "plugin.toml", pack / "src" / "acme_style.py"):
        path.write_text(path.read_text().replace('version = "1"', 'version = "2"').replace("version=1", "version=2"))
    with serving(pack, at):
        done, results = scored(project)
        assert done.code == 1
        assert results == []
        assert "version 2" in done.err
        again = evalsi("plugins", "attach", at, cwd=project)
        assert again.code == 1
        assert "evaluator polite: 1 → 2" in again.err
        done = evalsi("plugins", "update", "acme/style", cwd=project)
        assert done.out.endswith("updated acme/style from 1.0.0 to 1.1.0; evalsi.lock records it\n")
        assert outcomes(scored(project)[1]) == ["scored", "scored", "skipped"]


def test_its_questions_to_a_judge_are_the_projects_to_grant(project: Path, tmp_path: Path, at: str) -> None:
    manifest = judging(tmp_path / "style", "[permissions]\nasks_per_record = { polite = 1 }\n") / "plugin.toml"
    with serving(tmp_path / "style", at), Provider(lambda _: {"ok": True}) as provider:
        words = ("plugins", "attach", at, "--manifest", manifest)
        refused = evalsi(*words, cwd=project)
        assert (refused.code, "was not granted judge" in refused.err) == (1, True)
        assert evalsi(*words, "--grant", "judge", cwd=project).code == 0
        assert recorded(project)["acme/style"]["granted"]["asks_per_record"] == {"polite": 1}
        model = ("--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "JUDGE_KEY")
        _, results = scored(project, *model, "--no-cache", JUDGE_KEY=KEY)
        assert len(provider.requests) == 2
    assert outcomes(results) == ["scored", "error", "skipped"]
    assert results[1]["error"]["code"] == "capability.not_granted"


def test_a_manifest_that_the_process_does_not_bear_out_is_refused(project: Path, tmp_path: Path, at: str) -> None:
    manifest = write_pack(tmp_path / "other", evaluator="rude") / "plugin.toml"
    with serving(write_pack(tmp_path / "style"), at):
        done = evalsi("plugins", "attach", at, "--manifest", manifest, cwd=project)
    assert done.code == 1
    assert "rude: only its manifest has it" in done.err
    assert not (project / "evalsi.lock").exists()


def test_a_service_with_a_plain_name_is_refused(project: Path, at: str) -> None:
    with serving("core", at):
        done = evalsi("plugins", "attach", at, cwd=project)
    assert done.code == 1
    assert 'named "core", and plain names are for packs that come with Evals.si' in done.err


def test_where_nobody_listens_is_one_sentence_before_and_after_it_was_attached(
    project: Path, tmp_path: Path, at: str
) -> None:
    done = evalsi("plugins", "attach", at, cwd=project)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: Nobody answers at {at}")
    with serving(write_pack(tmp_path / "style"), at):
        assert evalsi("plugins", "attach", at, cwd=project).code == 0
    done, results = scored(project)
    assert (done.code, results) == (1, [])
    assert done.err.startswith(f"error: Nobody answers at {at} for the pack acme/style: ")


def test_flags_that_do_not_fit_the_address_are_refused(project: Path, at: str) -> None:
    done = evalsi("plugins", "attach", at, "--ca", "ca.pem", cwd=project)
    assert (done.code, "--ca is for tls://" in done.err) == (2, True)
    done = evalsi("plugins", "attach", "tls://localhost:1", "--key", "key.pem", cwd=project)
    assert (done.code, "a key to nothing" in done.err) == (2, True)
    done = evalsi("plugins", "attach", "tls://localhost:1", "--ca", "ca.pem", cwd=project)
    assert (done.code, "ca.pem is not there" in done.err) == (1, True)
