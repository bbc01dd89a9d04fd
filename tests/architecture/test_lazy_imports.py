"""An import of our own inside a function hides a cycle or a cost; each one that is meant is listed with its reason."""

from tests.architecture.distributions import distributions, imports_of

# "file -> module": why it waits.
MEANT: dict[str, str] = {
    "evalsi_kernel/catalog.py -> evalsi_kernel.manifests": "imports pydantic, which a warm catalog never needs",
    "evalsi_kernel/environments.py -> evalsi_kernel.extensions": "only an environment that is not ready needs any",
    "evalsi_kernel/extensions.py -> evalsi_kernel.extension_discovery": "imports importlib.metadata and pydantic",
    "evalsi_kernel/evaluation.py -> evalsi_kernel.scoring_run": "the event loop loads while the packs start up",
    "evalsi_kernel/launching.py -> evalsi_kernel.extensions": "only a third party's pack or one of no Python needs any",
    "evalsi_kernel/planning.py -> evalsi_kernel.describing": "the event loop; only a user's own file needs it so soon",
    "evalsi_kernel/run_scores.py -> evalsi_kernel.broker_findings": "only a run with a judge has any",
    "evalsi_kernel/run_scores.py -> evalsi_kernel.results_file": "tempfile and more, for who keeps the results only",
    "evalsi_kernel/scoring_run.py -> evalsi_kernel.broker_opening": "SQLite and the broker, for runs with a judge only",
    "evalsi_kernel/request.py -> evalsi_kernel.output_check": "tempfile, which only an evaluation with an output needs",
    "evalsi_kernel/runs/opening.py -> evalsi_kernel.broker_opening": "SQLite and the broker, for a judge only",
    "evalsi_kernel/runs/run.py -> evalsi_kernel.output_check": "tempfile, which only --output needs so soon",
    "evalsi_kernel/extensions.py -> evalsi_kernel.extension_loading": "pluggy, which only an extension in use needs",
}


def waiting_imports() -> set[str]:
    """Function-level imports of a distribution's own modules, in the protocol and the kernel."""
    return {
        f"{module.relative_to(distribution.path / 'src')} -> {one.target}"
        for distribution in distributions()
        if distribution.folder in {"protocol", "kernel"}
        for module in distribution.modules()
        for one in imports_of(module)
        if one.in_function and (one.top == distribution.package or one.target.startswith("."))
    }


def test_a_function_imports_a_module_of_its_own_distribution_only_with_a_stated_reason() -> None:
    assert waiting_imports() - set(MEANT) == set()


def test_no_stated_reason_outlives_its_import() -> None:
    assert set(MEANT) - waiting_imports() == set()
    assert all(reason.strip() for reason in MEANT.values())
