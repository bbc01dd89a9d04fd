"""All distributions are of one version, and depend on one another in that version only."""

import pytest

from evalsi_kernel.version import VERSION
from tests.architecture.distributions import ROOT, Distribution, distributions, read_toml


@pytest.mark.parametrize("distribution", distributions(), ids=lambda one: one.folder)
def test_a_distribution_has_the_version_of_the_whole(distribution: Distribution) -> None:
    assert distribution.project["version"] == VERSION
    ours = [line for line in distribution.project.get("dependencies", []) if line.startswith("evalsi-")]
    assert [line for line in ours if not line.endswith(f"=={VERSION}")] == []


def test_the_metapackage_has_the_version_of_the_whole() -> None:
    assert read_toml(ROOT / "pyproject.toml")["project"]["version"] == VERSION
