"""What each distribution may import from outside itself, read from the source, function bodies included.

The import contracts in pyproject.toml see the graph between our own packages; this table sees third parties too.
"""

import sys

import pytest

from tests.architecture.distributions import Distribution, distributions, imports_of, module_of

# Beside the standard library and the distribution's own package. Extensions and packs may add what they declare.
MAY_IMPORT = {
    "protocol": {"msgpack"},
    "protocol/conformance": {"evalsi_protocol", "pytest"},
    "sdk": {"evalsi_protocol", "evalsi_kernel", "numpy", "pandas"},
    "kernel": {"evalsi_protocol", "pydantic", "anyio", "pluggy", "msgpack", "uv"},
    "cli": {"evalsi_kernel", "evalsi_protocol", "argcomplete"},
    "extension": {"evalsi_kernel", "evalsi_protocol", "evalsi_conformance"},
    "pack": {"evalsi"},
    "bridge": {"evalsi"},
}

# The standard library of the newest Python that is supported: compression comes with 3.14.
STANDARD_LIBRARY = {*sys.stdlib_module_names, "compression"}

# Heavy or optional: only inside a function, or for the type checker. The door to the kernel is one file.
ONLY_LAZILY = {"sdk": {"evalsi_kernel", "numpy", "pandas"}, "cli": {"argcomplete"}}
DOOR = "sdk/src/evalsi/evaluation.py"


def row_of(distribution: Distribution) -> str:
    if not distribution.is_member:
        return distribution.kind
    return "extension" if distribution.folder.startswith("plugins/extensions/") else distribution.folder


def own_libraries(distribution: Distribution) -> set[str]:
    """Modules of the declared third parties."""
    third_parties = {name for name in distribution.declared if not name.startswith("evalsi")}
    return set(map(module_of, third_parties))


@pytest.mark.parametrize("distribution", distributions(), ids=lambda one: one.folder)
def test_a_distribution_imports_only_what_its_row_of_the_table_allows(distribution: Distribution) -> None:
    row = row_of(distribution)
    allowed = MAY_IMPORT[row] | {distribution.package} | STANDARD_LIBRARY
    if row in {"extension", "pack", "bridge"}:
        allowed |= own_libraries(distribution)
    strangers = [
        f"{module.relative_to(distribution.path)}:{one.line} imports {one.target}"
        for module in distribution.modules()
        for one in imports_of(module)
        if not one.target.startswith(".") and one.top not in allowed
    ]
    assert strangers == []


@pytest.mark.parametrize("folder", sorted(ONLY_LAZILY))
def test_optional_and_heavy_libraries_are_imported_only_where_they_are_used(folder: str) -> None:
    (distribution,) = [one for one in distributions() if one.folder == folder]
    eager = [
        f"{module.relative_to(distribution.path)}:{one.line} imports {one.target}"
        for module in distribution.modules()
        for one in imports_of(module)
        if one.top in ONLY_LAZILY[folder] and not (one.in_function or one.for_types)
    ]
    assert eager == []


def test_the_sdk_knows_the_kernel_in_one_file_only() -> None:
    (sdk,) = [one for one in distributions() if one.folder == "sdk"]
    doors = {
        f"sdk/{module.relative_to(sdk.path)}"
        for module in sdk.modules()
        if any(one.top == "evalsi_kernel" for one in imports_of(module))
    }
    assert doors <= {DOOR}
