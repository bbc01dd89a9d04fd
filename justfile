# The verbs of this repository. CI runs the same ones: see .ci/run.
# Tools come from the project's environment; `uv sync` makes it, `uv run just VERB` runs a verb from anywhere in the tree.

set shell := ["bash", "-euo", "pipefail", "-c"]

export PATH := justfile_directory() / ".venv/bin:" + env("PATH")

# A folder with a pyproject.toml is a distribution; packs, adapters and bridges have locks and environments of their own.
packs := `for f in plugins/packs/*/pyproject.toml adapters/*/pyproject.toml; do [ ! -f $f ] || printf '%s ' ${f%/*}; done`
# A bridge is installed beside a framework, in its users' environments; it supports a range of the framework's versions.
bridges := `for f in adapters/*/bridge/pyproject.toml; do [ ! -f $f ] || printf '%s ' ${f%/*}; done`
members := `for f in protocol protocol/conformance sdk kernel cli plugins/extensions/*; do [ ! -f $f/pyproject.toml ] || printf '%s ' $f; done`

# List the verbs.
default:
    @just --list

# Everything that can be judged without running the product.
check: style imports dependencies locks types

# Format, and correct what can be repaired by rule.
fmt:
    ruff format
    ruff check --fix

# Layout and lint rules.
style:
    ruff format --check
    ruff check

# Strict types, source and tests alike.
types:
    mypy

# Who may import whom (the contracts are in pyproject.toml). Packs are not installed here, so their sources are named.
imports:
    PYTHONPATH="$(printf '%s/src:' {{ packs }} {{ bridges }})" lint-imports --no-logo

# Each distribution declares exactly what it imports.
dependencies:
    #!/usr/bin/env bash
    set -euo pipefail
    for folder in {{ members }} {{ packs }} {{ bridges }}; do
        # Modules that are not named after their distribution, and are not installed here to ask.
        (cd "$folder" && deptry src --no-ansi --package-module-name-map \
            "evalsi-sdk=evalsi,evalsi-protocol=evalsi_protocol,google-re2=re2,cel-python=celpy,pyyaml=yaml,markdown-it-py=markdown_it,python-stdnum=stdnum") || failed=1
    done
    exit "${failed:-0}"

# Every lock still fits its pyproject.toml, and all that a pack's names has a wheel: nothing is built from source here.
locks:
    for folder in . {{ packs }} {{ bridges }}; do uv lock --check --quiet --project "$folder"; done
    for folder in {{ packs }}; do uv sync --frozen --dry-run --quiet --no-dev --no-build --no-install-project --no-install-local --project "$folder"; done

# The tests of the product, without those that need minutes.
test *ARGS:
    pytest {{ ARGS }}

# Each pack's own tests, in the pack's own environment; then the conformance kit.
test-packs:
    for folder in plugins/packs/*; do uv run --frozen --quiet --project "$folder" pytest -q -c "$folder/pyproject.toml" "$folder/tests"; done
    for folder in plugins/packs/*; do evalsi plugins check "$folder" | tail -n 1; done

# The adapters' own tests, the bridges' at both ends of their ranges, and the adapters through the kernel: minutes, 2.5 GB.
test-adapters: test-bridges
    for folder in adapters/*; do uv run --frozen --quiet --project "$folder" pytest -q -c "$folder/pyproject.toml" "$folder/tests"; done
    pytest -m adapters

# The bridges' tests, with the lowest and with the newest version of the framework that each supports.
test-bridges:
    for folder in {{ bridges }}; do for end in lowest newest; do \
        uv run --frozen --isolated --quiet --project "$folder" --group "$end" pytest -q -c "$folder/pyproject.toml" "$folder/tests"; \
    done; done

# Wheels, alone in empty environments.
test-wheels:
    pytest -m wheels

# What goes through pages, workflows, kits, toolchains and services from end to end, as a reader would: some minutes.
test-walks:
    pytest -m walks

# A thousand kills of runs at random points: nothing that was finished is lost or done again. Minutes.
test-kills:
    pytest -n 0 -m kills tests/runs

# Everything there is to test.
test-all: test test-walks test-packs test-wheels test-adapters test-kills

# The figures of docs/benchmarks.md.
bench *ARGS:
    python -m benchmarks {{ ARGS }}

# Renew every lock: the workspace's and each pack's own.
lock-all:
    for folder in . {{ packs }} {{ bridges }}; do uv lock --project "$folder"; done

# Write the pages that are generated; tests fail when one is stale.
docs:
    python tests/guide/status.py --write
    python tests/packs/readme_tables.py --write
    python -m tests.kernel.hooks_page --write
    python -m tests.docs.reference --write

# One installable set of wheels in dist/, with checksums; those of packs, adapters and bridges in dist/packs/.
build:
    rm -rf dist
    uv build --quiet --all-packages --wheel --out-dir dist
    for folder in {{ packs }} {{ bridges }}; do uv build --quiet --wheel --out-dir dist/packs "$folder"; done
    rm -f dist/.gitignore dist/packs/.gitignore
    cd dist && sha256sum *.whl packs/*.whl > SHA256SUMS

# Print the version, or set it everywhere: `just version 0.5.0`, then `just lock-all docs`.
version *NEW:
    python .ci/version.py {{ NEW }}

# A release in dist/: the wheels, each tried alone, a bill of materials, checksums, and the text of the tag.
release: build test-wheels
    python .ci/tag_text.py > dist/TAG.md
    uv export --quiet --frozen --no-dev --no-editable --all-packages --format cyclonedx1.5 --output-file dist/sbom.cdx.json > /dev/null
    for folder in {{ packs }}; do uv export --quiet --frozen --no-dev --project "$folder" --format cyclonedx1.5 --output-file "dist/packs/$(basename "$folder").cdx.json" > /dev/null; done
    cd dist && sha256sum *.whl *.json packs/* > SHA256SUMS
    @echo "dist/ holds the release; tag it with: git tag --annotate v$(python .ci/version.py) --file dist/TAG.md"

# The documentation site, into build/site/out; a link or an anchor that leads nowhere fails.
site:
    uv run --quiet --group site python .ci/site.py

# The tests under coverage, with the floor of pyproject.toml; processes that the tests start are measured too.
coverage:
    coverage erase
    pytest --cov --cov-report=
    coverage report --format total
