"""An import of our own inside a function hides a cycle or a cost; each one that is meant is listed with its reason."""

from tests.architecture.distributions import distributions, imports_of

# "file -> module", both within their distribution's package: why it waits.
MEANT: dict[str, str] = {
    "packs/catalog.py -> packs.manifests": "imports pydantic, which a warm catalog never needs",
    "planning/environments.py -> extensions.hook_calls": "only an environment that is not ready needs any",
    "planning/environments.py -> extensions.installed": "only an environment that is not ready needs any",
    "extensions/installed.py -> extensions.discovery": "imports importlib.metadata and pydantic",
    "extensions/installed.py -> extensions.loader": "pluggy, which only an extension in use needs",
    "evaluation/evaluation.py -> evaluation.scoring_run": "the event loop loads while the packs start up",
    "evaluation/evaluation.py -> evaluation.first_pass": "what reads records loads while the packs start up",
    "planning/launches.py -> extensions.hook_calls": "only a third party's pack or one of no Python needs any",
    "planning/launches.py -> extensions.installed": "only a third party's pack or one of no Python needs any",
    "planning/plan.py -> supervision.pack_description": "the event loop; only a user's own file needs it so soon",
    "evaluation/run_scores.py -> evaluation.broker_findings": "only a run with a judge has any",
    "evaluation/run_scores.py -> results.results_file": "tempfile and more, for who keeps the results only",
    "evaluation/evaluation.py -> supervision.event_loop": "the event loop loads while the packs start up",
    "evaluation/scorers.py -> evaluation.broker_opening": "SQLite and the broker, for runs with a judge only",
    "request.py -> files.output_check": "tempfile, which only an evaluation with an output needs",
    "runs/run.py -> files.output_check": "tempfile, which only --output needs so soon",
}


def waiting_imports() -> set[str]:
    """Function-level imports of a distribution's own modules, in the protocol and the kernel."""
    return {
        f"{module.relative_to(distribution.path / 'src' / distribution.package)} -> "
        f"{one.target.removeprefix(distribution.package).lstrip('.')}"
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
