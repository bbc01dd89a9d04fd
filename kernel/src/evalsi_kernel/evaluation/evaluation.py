"""One evaluation from end to end: checked, planned, run. The door that the CLI and the SDK share.

It must not know a terminal, a file format or a pack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evalsi_kernel.extensions.hook_calls import interval_method, open_source
from evalsi_kernel.extensions.installed import Extensions, default_extensions
from evalsi_kernel.packs.catalog import Catalog
from evalsi_kernel.planning.plan import LocalPack, make_plan
from evalsi_kernel.request import NOBODY, Listener, Request

if TYPE_CHECKING:
    from evalsi_kernel.packs.instances import Instance
    from evalsi_kernel.results.evaluated import Evaluation


def evaluate(
    request: Request,
    catalog: Catalog,
    *,
    extensions: Callable[[], Extensions] = default_extensions,
    local: LocalPack | None = None,
    listener: Listener = NOBODY,
    check: Callable[[Sequence[Instance]], None] | None = None,
) -> Evaluation:
    """Evaluate and wait for it; Ctrl-C ends it in an orderly way with what was finished, a second one at once.

    Args:
        request: what to evaluate, and how.
        catalog: where evaluators are found.
        extensions: gives the extensions that read the data and make intervals.
        local: evaluators of this process, which `request` refers to.
        listener: hears how it goes.
        check: sees the evaluators before any record is scored, or any model asked; what it raises ends it all.

    Raises:
        EvalsiError: something is wrong before the first record is scored. A fault on the way ends the evaluation with
            `status` failed and the `error` at hand instead, so that nothing scored is lost.
    """
    request.check()
    plan = make_plan(request, catalog, local, listener.on_note)
    try:
        if check is not None:
            check(plan.instances)
        # All this loads while the packs start up: half of a short evaluation's time.
        loaded = extensions()
        method = None if request.ci == "auto" else interval_method(request.ci, loaded)
        source = open_source(request.data, loaded) if isinstance(request.data, str) else request.data
        from evalsi_kernel.evaluation.first_pass import asks_models, check_all
        from evalsi_kernel.evaluation.scoring_run import run
        from evalsi_kernel.supervision.event_loop import run_in_loop

        # Broken rows are named before a model is paid for; free evaluators do without a second reading.
        is_checked = not asks_models(plan) or check_all(request, source)
    except BaseException:
        plan.abandon()
        raise
    return run_in_loop(
        lambda: run(request, source, plan, method=method, extensions=loaded, listener=listener, is_checked=is_checked)
    )
