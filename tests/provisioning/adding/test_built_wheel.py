"""From one person's hands to another's: a pack written by `plugins new`, built as a wheel, added elsewhere and used."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import uv

from tests.cli.running import QA, evalsi
from tests.provisioning.adding.third_party import digest, recorded


def test_a_new_pack_is_built_as_a_wheel_added_to_a_fresh_project_and_scores(project: Path, tmp_path: Path) -> None:
    source = tmp_path / "author" / "readability"
    written = evalsi("plugins", "new", "acme/readability", "--dir", source)
    assert written.code == 0, written.err
    build = [uv.find_uv_bin(), "build", "--quiet", "--wheel", "--out-dir", str(tmp_path / "released"), str(source)]
    subprocess.run(build, check=True, timeout=100)
    (wheel,) = (tmp_path / "released").glob("*.whl")
    lock = digest(source / "uv.lock")
    # Whoever adds it has the wheel and nothing else.
    shutil.rmtree(source)

    added = evalsi("plugins", "add", wheel, cwd=project)
    assert added.code == 0, added.err
    assert added.out.endswith("added acme/readability 0.1.0; evalsi.lock records it\n")
    entry = recorded(project)["acme/readability"]
    assert (entry["artifact_sha256"], entry["lock_sha256"]) == (digest(wheel), lock)
    assert entry["evaluators"] == {"sentence-length": "1"}

    listed = evalsi("catalog", "--pack", "acme/readability", cwd=project)
    assert listed.out.startswith("acme/readability 0.1.0 (community, by acme; ready): ")
    scored = evalsi("eval", "--data", QA, "--evaluators", "acme/readability/sentence-length", cwd=project)
    assert scored.code == 0, scored.err
    assert "sentence-length  6  3.667" in scored.out

    shutil.rmtree(project / ".evalsi")
    restored = evalsi("plugins", "add", "--locked", "--no-start", cwd=project)
    assert restored.code == 0, restored.err
    again = evalsi("eval", "--data", QA, "--evaluators", "sentence-length", cwd=project)
    assert again.out == scored.out
