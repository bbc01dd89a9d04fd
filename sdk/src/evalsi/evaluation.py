"""`evalsi.evaluate` and `evalsi.complete`: run the installed kernel from a script or a notebook.

The only module of the SDK that imports the kernel, and only when called, so that packs do not need one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsi.definition import Definition
from evalsi.host import Host
from evalsi.judging import AskError, Completion, Question
from evalsi.loading import from_objects
from evalsi.model_settings import BUDGET, MODEL
from evalsi.python_words import in_python, result_in_python
from evalsi.record import Record
from evalsi_protocol.channels import Channel

if TYPE_CHECKING:
    import pandas

    from evalsi_kernel.broker.ask import Ask
    from evalsi_kernel.broker.judge import Judge, Resolved
    from evalsi_kernel.broker.judge_key import JudgeKey
    from evalsi_kernel.broker.settings import BrokerSettings
    from evalsi_kernel.packs.wanted import Wanted
    from evalsi_kernel.planning.plan import LocalPack
    from evalsi_kernel.records.sources import Source
    from evalsi_kernel.request import Request
    from evalsi_kernel.results.evaluated import Evaluation
    from evalsi_kernel.scores.summaries import Summary


# Errors of a judge that `complete` returns as completions: the model did reply.
_NO_VERDICT = frozenset({"judge.truncated", "judge.refused", "judge.empty"})


class Result:
    """The results of an evaluation."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    @property
    def status(self) -> str:
        """`complete`, `incomplete`, `partial` or `failed`.

        `incomplete`: a model was not asked or gave no answer. `partial`: the run was interrupted. `failed`: the data
        could not be read to its end.
        """
        return self._evaluation.status.value

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """One summary for each metric: n, mean, interval, skipped, errors."""
        return self._evaluation.summaries

    @property
    def findings(self) -> tuple[str, ...]:
        """Warnings about the run, such as an evaluator that skipped every record; empty if there are none."""
        return tuple(in_python(str(finding)) for finding in self._evaluation.findings)

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the run: versions, evaluators, params, data and settings."""
        return self._evaluation.manifest

    @property
    def results(self) -> list[dict[str, Any]]:
        """All outcomes of all records, in the order of the data. Each access reads them from disk."""
        return list(self._spooled("results"))

    @property
    def records(self) -> list[dict[str, Any]]:
        """All records, as they were scored. Each access reads them from disk."""
        return list(self._spooled("records"))

    def __getitem__(self, metric: str) -> Summary:
        """Return the summary of one metric. Raise `KeyError` with the known names for any other."""
        for summary in self.summaries:
            if summary.metric == metric:
                return summary
        raise KeyError(f"{metric!r}; there are {', '.join(summary.metric for summary in self.summaries)}")

    def table(self) -> str:
        """Return the table that `evalsi eval` prints."""
        from evalsi_kernel.results.table import text_table

        evaluation = self._evaluation
        return text_table(evaluation.records, len(evaluation.instances), evaluation.summaries)

    def save(self, path: str | Path) -> None:
        """Write the results to a JSON file. An existing file is overwritten only if it holds results."""
        from evalsi_kernel.files.output_check import check_results_output

        check_results_output(Path(path))
        self._evaluation.write(Path(path))

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame with a row for each score. Needs `evalsi-sdk[pandas]`.

        Its columns are record_id, evaluator, metric, outcome, value, label, explanation and reason.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas. Run: pip install 'evalsi-sdk[pandas]'") from error
        columns = ["record_id", "evaluator", "metric", "outcome", "value", "label", "explanation", "reason"]
        return pandas.DataFrame(list(self._rows()), columns=columns)

    @property
    def judge_replies(self) -> list[dict[str, Any]]:
        """All raw replies of models, each with the `ref` that results refer to. Each access reads them from disk."""
        spool = self._evaluation.spool
        assert spool is not None  # evaluate() always keeps the results.
        return list(spool.judge_replies())

    def _rows(self) -> Iterator[dict[str, Any]]:
        for result in self._spooled("results"):
            shared = {key: result.get(key) for key in ("record_id", "evaluator", "outcome", "reason")}
            for score in result.get("scores", [{}]):
                value = score.get("value", score.get("passed"))
                yield shared | {
                    "metric": score.get("name", result["evaluator"]),
                    "value": None if value is None else float(value),
                    "label": score.get("label"),
                    "explanation": score.get("explanation"),
                }
            for error in result.get("score_errors", ()):
                yield shared | {"metric": error["name"], "outcome": "error", "reason": error["message"]}

    def _spooled(self, what: str) -> Iterator[dict[str, Any]]:
        spool = self._evaluation.spool
        assert spool is not None  # evaluate() always keeps the results.
        return map(result_in_python, spool.results()) if what == "results" else spool.records()

    def __repr__(self) -> str:
        return f"<evalsi result: {self.status}>\n{self.table()}"


def evaluate(
    data: str | Path | pandas.DataFrame | Iterable[Mapping[str, Any] | Record],
    evaluators: Sequence[Any],
    *,
    mapping: Mapping[str, str] | None = None,
    params: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int | None = None,
    concurrency: int | None = None,
    record_timeout_s: float = 60.0,
    cluster_by: str | None = None,
    confidence: float = 0.95,
    ci: str = "auto",
    judge: str | Mapping[str, Any] | None = None,
    embed: str | Mapping[str, Any] | None = None,
    batch: bool = False,
    cache: bool = True,
    budget: Mapping[str, float] | None = None,
    prices: str | Path | None = None,
    output: str | Path | None = None,
    quiet: bool = False,
) -> Result:
    """Score records with evaluators and summarize the results.

    Args:
        data: a path or source as for `--data`, or rows: dicts, Records, or a pandas DataFrame. NaN, NaT and NA in a
            DataFrame count as missing.
        evaluators: names as for `--evaluators`, functions, classes, or dicts with `ref`, `name` and `params`.
        mapping: record field → column of the data, such as `{"input": "question"}`.
        params: evaluator name → its params.
        limit: maximum number of records to score; None scores all.
        concurrency: maximum number of records in progress for asynchronous evaluators. None takes 16; for evaluators
            that call models 64 or the model's `max_in_flight`, if higher, and 5,000 with `batch`.
        record_timeout_s: seconds that a function, or an evaluator from your own file, may take for one record. Packs
            declare their own timeout.
        cluster_by: metadata key that identifies a record's cluster, for cluster-robust intervals.
        confidence: confidence level of the intervals, between 0 and 1.
        ci: method of the intervals: "auto" or "bootstrap".
        judge: judge model, by name or as `{"model": …, "base_url": …}`. There is no default.
        embed: embedding model, in the same form. There is no default.
        batch: use the provider's batch API for the judge: half the price, but answers may take hours.
        cache: read model replies from the cache, and add new ones.
        budget: limit for all model calls together: `{"usd": 2.0}`, `{"tokens": 500_000}`, or both.
        prices: price file (TOML); overrides the built-in prices.
        output: path of a results file (JSON) to write, even if the run is interrupted.
        quiet: print nothing on stderr.

    Returns:
        The results, with a summary for each metric.

    Raises:
        EvalsiError: the evaluation failed; the error has a hint. If the data could not be read to its end,
            `details["result"]` has the results up to there.
    """
    make_request = _request_of_the_kernel()
    with _python_words():
        wanted, local = _wanted(evaluators)
        request = make_request(
            data=_data(data),
            evaluators=wanted,
            params=params or {},
            mapping=_mapping(mapping or {}),
            limit=limit,
            concurrency=concurrency,
            record_timeout_s=record_timeout_s,
            cluster_by=cluster_by,
            confidence=confidence,
            ci=ci,
            models=_models(judge, embed, batch=batch, cache=cache, budget=budget or {}, prices=prices),
            output=None if output is None else Path(output),
            keep_results=True,
        )
        return _run(request, local, quiet=quiet)


def complete(
    questions: Sequence[Question],
    model: str | Mapping[str, Any],
    *,
    cache: bool = True,
    budget: Mapping[str, float] | None = None,
    prices: str | Path | None = None,
    quiet: bool = False,
) -> list[Completion | AskError]:
    """Ask a model several questions concurrently, with the kernel's rate limiter, retries, cache and budget.

    A truncated, refused or empty reply is returned as a completion, not as an error. Such replies are not cached.

    Args:
        questions: the questions. If one has a `schema`, a reply that does not match it is an error.
        model: model, by name or as `{"model": …, "base_url": …}`, like the judge of `evaluate`.
        cache: read replies from the cache, and add new ones. Equal questions share one call; a different `sample` for
            each repeat makes them independent. (The target of `evalsi run` is asked again in every new run.)
        budget: limit for all questions together: `{"usd": 2.0}`, `{"tokens": 500_000}`, or both.
        prices: price file (TOML); overrides the built-in prices.
        quiet: print nothing on stderr, such as notes about rate limits.

    Returns:
        A completion for each question, in order; an `AskError` for each question that failed.

    Raises:
        EvalsiError: no question could be asked, for example because the API key is missing.
    """
    _request_of_the_kernel()
    from evalsi_kernel.supervision.event_loop import run_in_loop

    with _python_words("model"):
        settings = _models(model, None, batch=False, cache=cache, budget=budget or {}, prices=prices)
        assert settings is not None  # There is a model.
        on_note = (lambda _note: None) if quiet else _print_note
        return run_in_loop(lambda: _completed(settings, questions, on_note))


async def _completed(
    settings: BrokerSettings, questions: Sequence[Question], on_note: Callable[[str], None]
) -> list[Completion | AskError]:
    import asyncio

    from evalsi_kernel.broker.settings import PRIMARY
    from evalsi_kernel.evaluation.broker_opening import open_broker
    from evalsi_kernel.extensions.installed import default_extensions

    broker = await open_broker(settings, default_extensions(), keep_replies=False, folder=None, on_note=on_note)
    try:
        judge = broker.judges[PRIMARY]
        # Equal questions share one call and one bill, as they do among evaluators.
        asked: dict[str, asyncio.Task[Completion | AskError]] = {}
        waited: list[asyncio.Task[Completion | AskError]] = []
        for question in questions:
            key, ask = _key_of(question, judge)
            if key.digest not in asked:
                asked[key.digest] = asyncio.create_task(_completion(judge, ask, key))
            waited.append(asked[key.digest])
        return list(await asyncio.gather(*waited))
    finally:
        broker.stop()
        await broker.close()


def _key_of(question: Question, judge: Judge) -> tuple[JudgeKey, Ask]:
    from evalsi_kernel.broker.wire import BadAsk, ask_of
    from evalsi_kernel.errors import UsageError

    try:
        ask = ask_of(question.to_body(), judge.model)
    except BadAsk as bad:
        raise UsageError(bad.error.message, "Correct the question.") from bad
    return judge.key(ask), ask


async def _completion(judge: Judge, ask: Ask, key: JudgeKey) -> Completion | AskError:
    from evalsi_kernel.broker.judge import Unresolved

    try:
        found: Resolved = await judge.resolve(ask, key)
    except Unresolved as failure:
        if failure.reply is None or failure.error.code not in _NO_VERDICT or ask.schema is not None:
            error = failure.error
            message, hint = in_python(error.message, "model"), in_python(error.hint, "model")
            return AskError(error._replace(message=message, hint=hint))
        reply, spent, cached = failure.reply, failure.spent, False
    else:
        reply, spent, cached = found.reply, found.spent, found.cached
    parts = (spent.tokens.input, spent.tokens.output)
    tokens = None if None in parts else sum(part or 0 for part in parts)
    return Completion(reply.text, reply.finish, reply.model, cached, tokens, spent.cost_usd)


def _request_of_the_kernel() -> type[Request]:
    try:
        from evalsi_kernel.request import Request
    except ImportError as error:
        raise ImportError(
            "evaluate() and complete() need the kernel. Install Evals.si as described in docs/how-to/install.md."
        ) from error
    return Request


@contextmanager
def _python_words(judge: str = "judge") -> Iterator[None]:
    """Replace flags with Python arguments in the message and hint of an `EvalsiError` raised in the block."""
    from evalsi_kernel.errors import EvalsiError

    try:
        yield
    except EvalsiError as error:
        error.message, error.hint = in_python(error.message, judge), in_python(error.hint, judge)
        error.args = (error.message,)
        raise


def _mapping(mapping: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    from evalsi_kernel.records.mapping import parse_mapping

    return parse_mapping(f"{field}={column}" for field, column in mapping.items())


def _run(request: Request, local: LocalPack | None, *, quiet: bool) -> Result:
    from evalsi_kernel.evaluation import evaluation
    from evalsi_kernel.packs import catalog
    from evalsi_kernel.request import NOBODY, Listener

    listener = NOBODY if quiet else Listener(on_note=_print_note)
    found = evaluation.evaluate(request, catalog.default_catalog(), local=local, listener=listener)
    for name, traceback in () if quiet else found.tracebacks:
        print(f"traceback of {name}:\n{traceback}", file=sys.stderr)
    if found.error is not None:
        found.error.details["result"] = Result(found)
        raise found.error
    return Result(found)


def _print_note(note: str) -> None:
    print(in_python(note), file=sys.stderr)


def _wanted(evaluators: Sequence[Any]) -> tuple[list[Wanted], LocalPack | None]:
    from evalsi_kernel.errors import UsageError
    from evalsi_kernel.packs.wanted import Wanted
    from evalsi_kernel.planning.plan import LocalPack

    if isinstance(evaluators, str):
        raise UsageError(f"evaluators is the text {evaluators!r}.", 'Give a list: ["exact-match"].')
    wanted: list[Wanted] = []
    targets: list[Any] = []
    for one in evaluators:
        spec = dict(one) if isinstance(one, Mapping) else {"ref": one}
        ref, name, params = spec.pop("ref", None), spec.pop("name", None), spec.pop("params", {})
        if spec:
            raise UsageError(f"An evaluator has the unknown key {next(iter(spec))!r}.", "Use ref, name and params.")
        if isinstance(ref, str):
            wanted.append(Wanted(ref, name, params))
        else:
            # One function may run several times, under different names and with different params.
            known = next((index for index, target in enumerate(targets) if target is ref), None)
            if known is None:
                targets.append(ref)
            wanted.append(Wanted("", name, params, local=len(targets) - 1 if known is None else known))
    return wanted, _local_pack(from_objects(targets, qualify=True), LocalPack) if targets else None


def _local_pack(definitions: dict[str, Definition], make: type[LocalPack]) -> LocalPack:
    def serve(channel: Channel) -> None:
        Host(channel, "this process", "0", lambda: definitions).serve()

    return make(tuple(definition.to_dict() for definition in definitions.values()), serve)


def _models(
    judge: str | Mapping[str, Any] | None,
    embed: str | Mapping[str, Any] | None,
    *,
    batch: bool,
    cache: bool,
    budget: Mapping[str, float],
    prices: str | Path | None,
) -> BrokerSettings | None:
    from evalsi_kernel.broker.settings import EMBED, PRIMARY, BrokerSettings, ModelSettings
    from evalsi_kernel.errors import UsageError

    roles = {}
    for role, name, given in ((PRIMARY, "judge", judge), (EMBED, "embed", embed)):
        if given is not None:
            settings = {"model": given} if isinstance(given, str) else given
            roles[role] = ModelSettings(**_fitting(name, settings, MODEL))
    bounds = _fitting("budget", budget, BUDGET)
    if batch and PRIMARY not in roles:
        raise UsageError("batch needs a judge, and none is given.", "Pass one with judge.")
    if not roles:
        for name, bound in (("budget", bounds), ("prices", prices)):
            if bound:
                raise UsageError(f"{name} applies to model calls, and no model is given.", "Pass one with judge.")
        return None
    file = None if prices is None else Path(prices)
    return BrokerSettings(roles, cache, bounds.get("tokens"), bounds.get("usd"), file, batch=batch)


def _fitting(name: str, given: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """Return an argument's value if it matches the schema; raise `UsageError` if not."""
    from evalsi_kernel.checking.problems import describe_problems
    from evalsi_kernel.checking.value_schema import value_problems
    from evalsi_kernel.errors import UsageError

    settings = dict(given) if isinstance(given, Mapping) else given
    if problems := list(value_problems(schema, settings, name)):
        raise UsageError(*describe_problems("The arguments do not fit", problems))
    fitting: dict[str, Any] = settings
    return fitting


def _data(data: str | Path | pandas.DataFrame | Iterable[Mapping[str, Any] | Record]) -> str | Source:
    from evalsi_kernel.records.rows_source import RowsSource

    if isinstance(data, (str, Path)):
        return str(data)
    given: Any = data
    if hasattr(given, "notna") and hasattr(given, "columns"):
        # pandas stores a missing value as NaN, NaT or NA, even if it was None. A column of objects can hold None.
        return RowsSource(given.astype(object).where(given.notna(), None).to_dict("records"), "DataFrame")
    return RowsSource((row.wire if isinstance(row, Record) else row for row in given), "rows")
