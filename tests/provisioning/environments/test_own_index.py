"""The user's own index or folder of wheels replaces the addresses in a lock, and nothing else of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evalsi_kernel.planning.environments import ensure_environment
from evalsi_provisioning.build import child_variables
from tests.provisioning.environments.pack_folders import MakePack, built_mark, edit, refusal, says
from tests.provisioning.environments.package_index import PackageIndex


@pytest.fixture
def only_a_folder_of_wheels(index: PackageIndex, monkeypatch: pytest.MonkeyPatch, empty_uv_cache: None) -> None:
    monkeypatch.setenv("UV_FIND_LINKS", str(index.wheels))
    monkeypatch.setenv("UV_NO_INDEX", "1")


@pytest.mark.usefixtures("only_a_folder_of_wheels")
def test_a_folder_of_wheels_replaces_the_addresses_in_the_lock(make_pack: MakePack, index: PackageIndex) -> None:
    pack = make_pack("msgpack")
    edit(pack / "uv.lock", index.url.removesuffix("/simple"), "http://127.0.0.1:9")
    assert says(ensure_environment(pack, "tiny").python, "import msgpack; print('there')") == "there"


@pytest.mark.usefixtures("only_a_folder_of_wheels")
def test_a_folder_of_wheels_is_held_to_the_locks_hashes(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    edit(pack / "uv.lock", (pack / "uv.lock").read_text().split("sha256:")[1][:64], "0" * 64)
    assert refusal(pack).code == "environment.hash_mismatch"


@pytest.mark.usefixtures("only_a_folder_of_wheels")
def test_a_folder_with_the_source_of_a_locked_wheel_does_not_replace_it(
    make_pack: MakePack, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = shutil.copytree(index.sources, tmp_path / "links")
    shutil.copy(next(index.wheels.glob("msgpack-*")), links)
    monkeypatch.setenv("UV_FIND_LINKS", str(links))
    error = refusal(make_pack("msgpack", "both"))
    assert error.code == "environment.no_wheel"
    assert "both" in error.message
    assert not built_mark(index).exists()


@pytest.mark.usefixtures("only_a_folder_of_wheels")
def test_a_folder_of_wheels_does_not_lift_the_range_of_pythons(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    edit(pack / "uv.lock", 'requires-python = ">=3.11"', 'requires-python = ">=3.99"')
    assert refusal(pack).code == "environment.python_unsuitable"


def test_an_index_without_the_package_is_named_as_the_cause(
    make_pack: MakePack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, empty_uv_cache: None
) -> None:
    (tmp_path / "wheels").mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    error = refusal(make_pack("msgpack"))
    assert error.code == "environment.not_in_index"
    assert "msgpack" in error.message


def test_uv_gets_the_users_index_and_nothing_that_would_change_what_is_installed() -> None:
    host = {
        "PATH": "/bin",
        "HTTPS_PROXY": "http://proxy",
        "UV_DEFAULT_INDEX": "https://mirror",
        "UV_INDEX_COMPANY_PASSWORD": "secret",
        "UV_CACHE_DIR": "/cache",
        "UV_NO_VERIFY_HASHES": "1",
        "UV_LOCKED": "1",
        "UV_PYTHON": "3.9",
        "UV_PROJECT_ENVIRONMENT": "/mine",
        "UV_PYTHON_DOWNLOADS": "automatic",
        "VIRTUAL_ENV": "/mine",
        "PYTHONPATH": "/mine",
        "PYTHONPYCACHEPREFIX": "/elsewhere",
        # S1: keys of models and services are none of uv's business.
        "OPENAI_API_KEY": "secret",
        "ANTHROPIC_API_KEY": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "SSH_AUTH_SOCK": "/run/agent",
    }
    child = child_variables(host)
    kept = ("PATH", "HTTPS_PROXY", "UV_DEFAULT_INDEX", "UV_INDEX_COMPANY_PASSWORD", "UV_CACHE_DIR")
    own = {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1", "UV_NO_WRAP": "1", "NO_COLOR": "1"}
    assert child == {name: host[name] for name in kept} | own


def test_a_relative_folder_is_the_same_for_uv_which_is_run_in_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    child = child_variables({"HOME": "home", "UV_CACHE_DIR": "cache", "UV_CONFIG_FILE": "uv.toml"})
    named = {name: child[name] for name in ("HOME", "UV_CACHE_DIR", "UV_CONFIG_FILE")}
    assert named == {
        "HOME": str(tmp_path / "home"),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_CONFIG_FILE": str(tmp_path / "uv.toml"),
    }


def test_an_environment_is_built_under_a_relative_home(
    make_pack: MakePack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = make_pack("msgpack", "words")
    monkeypatch.delenv("EVALSI_CACHE_DIR")
    for name in ("EVALSI_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "home")
    environment = ensure_environment(pack, "tiny")
    assert environment.python.is_relative_to(tmp_path / "home")
    assert says(environment.python, "import words; print(words.RED)") == "red"
