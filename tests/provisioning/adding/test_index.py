"""The index of packs: what a search finds, which version is taken, and an index that is not there or not one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from evalsi_kernel.errors import ConfigError, EvalsiError, PackError
from evalsi_provisioning import downloads, pack_index
from evalsi_provisioning.pack_index import PackIndex, find_release, matching, read_index, schema_text
from tests.cli.running import evalsi
from tests.provisioning.adding.third_party import served, write_index

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"


def version(number: str, **more: Any) -> dict[str, Any]:
    return {"version": number, "url": f"{number}.zip", "sha256": "0" * 64, **more}


def listed(name: str, *versions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "versions": list(versions) or [version("1.0")], **more}


def index_of(*packs: dict[str, Any]) -> PackIndex:
    return PackIndex.model_validate({"index": 1, "packs": list(packs)})


def test_the_published_schema_is_the_one_that_is_read_by_and_fits_the_example_of_the_page() -> None:
    assert (REFERENCE / "pack-index.schema.json").read_text("utf-8") == schema_text()
    example = (REFERENCE / "pack-index.md").read_text("utf-8").split("```json\n")[1].split("```")[0]
    jsonschema.validate(json.loads(example), json.loads(schema_text()))
    PackIndex.model_validate(json.loads(example))


@pytest.mark.parametrize(
    ("wanted", "versions", "taken"),
    [
        ("a/b", [version("1.9"), version("1.10"), version("1.2")], "1.10"),
        ("a/b", [version("1.0"), version("2.0", yanked=True)], "1.0"),
        ("a/b", [version("1.0"), version("2.0", protocol=2)], "1.0"),
        ("a/b", [version("1.0"), version("2.0rc1")], "1.0"),
        ("a/b", [version("2.0rc1"), version("2.0rc2")], "2.0rc2"),
        ("a/b==2.0", [version("1.0"), version("2.0", yanked=True)], "2.0"),
        ("a/b == 1.0", [version("1.0"), version("2.0")], "1.0"),
    ],
)
def test_the_newest_that_can_be_used_is_taken_or_the_very_one(
    wanted: str, versions: list[dict[str, Any]], taken: str
) -> None:
    _, found = find_release(index_of(listed("a/b", *versions)), "index.json", wanted)
    assert found.version == taken


@pytest.mark.parametrize(
    ("wanted", "versions", "code", "said"),
    [
        ("a/c", [version("1.0")], "config.unknown_pack", "Did you mean"),
        ("a/b==3", [version("1.0"), version("2.0")], "config.unknown_pack", "It has 1.0, 2.0"),
        ("a/b", [version("1.0", yanked=True)], "config.unknown_pack", "was taken back"),
        ("a/b", [version("1.0", protocol=2)], "protocol.version", "Upgrade Evals.si"),
        ("a/b==1.0", [version("1.0", protocol=2)], "protocol.version", "Upgrade Evals.si"),
        ("a/b", [version("1.0", protocol=0)], "protocol.version", "Ask its publisher"),
        ("a/b", [version("one")], "pack.version", "older or newer"),
    ],
)
def test_what_cannot_be_taken_says_why(wanted: str, versions: list[dict[str, Any]], code: str, said: str) -> None:
    with pytest.raises(EvalsiError) as refused:
        find_release(index_of(listed("a/b", *versions)), "index.json", wanted)
    assert refused.value.code == code
    assert said in str(refused.value)


def test_a_search_finds_words_in_names_summaries_and_evaluators() -> None:
    index = index_of(
        listed("acme/style", summary="Politeness and tone."),
        listed("zenith/tone", evaluators=["warmth"]),
        listed("zenith/speed"),
    )
    assert [one.name for one in matching(index, ["TONE"])] == ["acme/style", "zenith/tone"]
    assert [one.name for one in matching(index, ["zenith", "warm"])] == ["zenith/tone"]
    assert len(matching(index, [])) == 3


def test_a_search_prints_a_line_a_pack_or_json_and_says_when_there_is_none(tmp_path: Path) -> None:
    index = write_index(tmp_path / "index.json", listed("acme/style", version("1.0"), version("1.1"), summary="Tone."))
    found = evalsi("plugins", "search", "tone", "--index", index)
    assert found.out == "acme/style  1.1       Tone.\n"
    tables = json.loads(
        evalsi("plugins", "search", "--format", "json", variables={"EVALSI_PLUGIN_INDEX": str(index)}).out
    )
    assert [one["name"] for one in tables] == ["acme/style"]
    nothing = evalsi("plugins", "search", "speed", "--index", index)
    assert (nothing.code, nothing.out) == (0, "")
    assert "nothing in" in nothing.err


def test_one_pack_of_an_index_is_shown_with_its_evaluators_and_what_becomes_of_each_version(tmp_path: Path) -> None:
    versions = [version("1.0"), version("1.2", yanked=True), version("1.1"), version("2.0", protocol=2)]
    pack = listed("acme/style", *versions, summary="Tone.", evaluators=["polite", "warm"])
    index = write_index(tmp_path / "index.json", pack, listed("acme/other"))
    shown = evalsi("plugins", "show", "acme/style", "--index", index)
    digest = "sha256 " + "0" * 64
    assert shown.out.splitlines() == [
        "acme/style  Tone.",
        "evaluators: polite, warm",
        f"2.0         {digest}  speaks protocol 2, and this one 1, unsigned",
        f"1.2         {digest}  taken back, unsigned",
        f"1.1         {digest}  newest, unsigned",
        f"1.0         {digest}  unsigned",
    ]
    told = json.loads(evalsi("plugins", "show", "acme/style", "--index", index, "--format", "json").out)
    assert [one["version"] for one in told["versions"]] == ["1.0", "1.2", "1.1", "2.0"]
    unknown = evalsi("plugins", "show", "acme/stile", "--index", index)
    assert (unknown.code, unknown.out) == (1, "")
    assert "Did you mean" in unknown.err


def test_install_is_another_name_of_add(project: Path) -> None:
    done = evalsi("plugins", "install", "acme/style", cwd=project)
    assert done.code == 1
    assert done.err == evalsi("plugins", "add", "acme/style", cwd=project).err


def test_without_an_index_a_name_cannot_be_found_and_it_is_said_what_to_name(project: Path) -> None:
    done = evalsi("plugins", "search", "tone", cwd=project)
    assert done.code == 1
    assert "EVALSI_PLUGIN_INDEX" in done.err
    done = evalsi("plugins", "add", "acme/style", cwd=project)
    assert "write ./NAME for a folder" in done.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no JSON"),
        (b"<html>", "is no JSON"),
        (b"\xff\xfe\x00", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"[]", "does not fit"),
        (b"{}", "index: Field required"),
        (b'{"index": 2, "packs": []}', "is of format 2"),
        (b'{"index": "1", "packs": []}', "index: Input should be a valid integer"),
        (json.dumps({"index": 1, "packs": [listed("core")]}).encode(), "packs.0.name"),
        (json.dumps({"index": 1, "packs": [{"name": "a/b", "versions": []}]}).encode(), "packs.0.versions"),
        (json.dumps({"index": 1, "packs": [listed("a/b", {"version": "1", "url": "x"})]}).encode(), "sha256"),
        (json.dumps({"index": 1, "packs": [listed("a/b", summary="a\x1b[2K")]}).encode(), "packs.0.summary"),
        (json.dumps({"index": 1, "packs": [listed("a/b"), listed("a/b")]}).encode(), "a/b more than once"),
        (json.dumps({"index": 1, "packs": [{}] * 500}).encode(), "and 990 more"),
    ],
)
def test_a_file_that_is_no_index_says_what_is_wrong_and_where(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "index.json").write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        read_index(str(tmp_path / "index.json"))
    assert refused.value.code == "config.index"
    assert said in refused.value.message
    assert len(refused.value.message) < 3_000


def test_keys_that_are_not_known_are_left_alone(tmp_path: Path) -> None:
    index = write_index(tmp_path / "index.json", listed("a/b", version("1.0", licence="…"), homepage="…"))
    assert read_index(str(index)).packs[0].name == "a/b"


def test_an_index_that_is_huge_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_index, "MAX_BYTES", 1_000)
    index = write_index(tmp_path / "index.json", *[listed(f"a/b{number}") for number in range(50)])
    with pytest.raises(ConfigError, match="is larger than"):
        read_index(str(index))
    with served(tmp_path) as url, pytest.raises(PackError, match="is larger than"):
        read_index(f"{url}/index.json")


def test_an_index_that_comes_a_byte_at_a_time_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "WHOLE_S", 0.1)
    with served(tmp_path) as url, pytest.raises(PackError, match=r"has not come within 0\.1 s"):
        read_index(f"{url}/drip")


def test_an_index_that_cannot_be_reached_is_told(tmp_path: Path) -> None:
    for place in (str(tmp_path / "none.json"), str(tmp_path)):
        with pytest.raises(PackError, match="cannot be read"):
            read_index(place)
    with served(tmp_path) as url:
        pass
    with pytest.raises(PackError, match="cannot be fetched"):
        read_index(f"{url}/index.json")
    with pytest.raises(PackError, match="over https only"):
        read_index("http://packs.example.com/index.json")
