"""Against a released pack, from its folder or its wheel: a changed score needs a changed version."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from evalsi_conformance.command import main
from evalsi_conformance.kit import Unusable
from evalsi_conformance.released import BadWheel, lay_out_wheel
from tests.conformance.packs import checked, write_pack

CHANGED = "return 0.5 if record['id'] == 'sample-3' else 1.0"


def test_a_changed_score_under_the_same_version_is_found(tmp_path: Path) -> None:
    old, new = write_pack(tmp_path / "old"), write_pack(tmp_path / "new", CHANGED, version="1.1")
    report = checked(new, released=old)
    assert report.reached == ("loads", "behaves", "trustworthy")
    (fault,) = report.failed
    assert (fault.check, fault.evaluator) == ("version", "polite")
    assert fault.message == (
        "1 of 7 samples changed and the version is still 1: sample-3 was score value 1.0, and is score value 0.5."
    )


def test_a_changed_score_under_a_new_version_is_right_and_so_is_no_change(tmp_path: Path) -> None:
    old = write_pack(tmp_path / "old")
    for name, more in {"new": {"answers": CHANGED, "evaluator_version": "2"}, "same": {}}.items():
        report = checked(write_pack(tmp_path / name, **more), released=old)
        assert report.reached == ("loads", "behaves", "trustworthy", "stable")


def test_an_evaluator_that_went_needs_a_new_version_of_the_pack(tmp_path: Path) -> None:
    old, new = write_pack(tmp_path / "old"), write_pack(tmp_path / "new")
    text = (old / "plugin.toml").read_text("utf-8")
    (old / "plugin.toml").write_text(text.replace('name = "polite"', 'name = "rude"'), "utf-8")
    assert [one.message for one in checked(new, released=old).failed] == [
        "rude went, and the pack's version is the same."
    ]


def test_a_released_pack_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    with pytest.raises(Unusable, match=r"The released pack's plugin\.toml: "):
        checked(write_pack(tmp_path / "new"), released=tmp_path / "old")


def wheel(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_a_wheel_is_laid_out_as_a_folder(tmp_path: Path) -> None:
    members = {"acme/plugin.toml": "manifest = 1", "acme/uv.lock": "", "acme/__init__.py": "", "acme/deep/a.py": ""}
    folder = lay_out_wheel(wheel(tmp_path / "a.whl", **members, **{"acme-1.dist-info/METADATA": ""}), tmp_path / "out")
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        "plugin.toml",
        "src/acme-1.dist-info/METADATA",
        "src/acme/__init__.py",
        "src/acme/deep/a.py",
        "uv.lock",
    ]


@pytest.mark.parametrize(
    ("member", "said"),
    [("../evil.py", "a path outside of itself"), ("/evil.py", "a path outside of itself"), ("acme/a.py", "has 0")],
)
def test_a_wheel_that_reaches_out_of_itself_or_is_no_packs_is_refused(member: str, said: str, tmp_path: Path) -> None:
    more = {} if "acme" in member else {"acme/plugin.toml": ""}
    with pytest.raises(BadWheel, match=said):
        lay_out_wheel(wheel(tmp_path / "a.whl", **more, **{member: ""}), tmp_path / "out")
    assert not list(tmp_path.glob("evil.py"))


def test_a_file_that_is_no_wheel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_text("no", "utf-8")
    with pytest.raises(BadWheel, match="cannot be read as a wheel"):
        lay_out_wheel(tmp_path / "a.whl", tmp_path / "out")


def test_the_command_exits_with_0_or_1_and_prints_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = write_pack(tmp_path / "old"), write_pack(tmp_path / "new", CHANGED)
    argv = ["--", sys.executable, "{folder}/program.py"]
    assert main([str(new), *argv]) == 0
    assert "acme/tone conforms: loads, behaves, trustworthy." in capsys.readouterr().out
    assert main([str(new), "--against", str(old), "--format", "json", *argv]) == 1
    assert '"conforms": false' in capsys.readouterr().out
    assert main([str(new), "--against", str(new / "program.py"), *argv]) == 1
    assert "cannot be read as a wheel" in capsys.readouterr().err
