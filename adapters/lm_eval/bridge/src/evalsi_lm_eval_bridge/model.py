"""The model `evalsi` of the harness: it answers the requests of tasks with a chat model, by `evalsi.complete`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NoReturn

from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

import evalsi
from evalsi_lm_eval_bridge.generation import ChatPrompt, question_of, until_stop

NAME = "evalsi"
GENERATES = "generate_until"
_NO_LIKELIHOOD = (
    "Chat models give no log-likelihood, and {what} is scored by it. "
    "Use a task with output_type generate_until (often NAME_gen or NAME_generative), or another model of the harness."
)


class NoAnswers(RuntimeError):
    """Some requests were not answered, so the task has no score."""


class NoLikelihood(NotImplementedError):
    """A task needs log-likelihoods, which a chat model does not give."""


@register_model(NAME)
class EvalsiModel(LM):  # type: ignore[misc] # The harness has no types here.
    """A chat model behind a connector of Evals.si.

    Args:
        model: name of the model at the provider.
        provider: name of the connector.
        base_url: address of the provider; None is its public address.
        api_key_env: environment variable with the key; None is the provider's usual variable, "none" is no key.
        effort: reasoning effort, passed to the provider unchanged; None is the provider's default.
        timeout_s: longest time of one call.
        max_in_flight: largest number of calls in progress.
        temperature: temperature for tasks that do not sample; "none" is the provider's default.
        max_gen_toks: largest number of tokens in an answer, for tasks that set none.
        cache: read replies from the cache and write new ones to it.
        max_usd: largest cost of all requests together; None is no limit.
        max_tokens: largest number of tokens of all requests together; None is no limit.
        prices: price file (TOML); overrides the built-in prices.
        ignored: the harness's settings for batches and devices, which have no meaning here.
    """

    def __init__(
        self,
        *,
        model: str,
        provider: str = "openai-compatible",
        base_url: str | None = None,
        api_key_env: str | None = None,
        effort: str | None = None,
        timeout_s: float = 120.0,
        max_in_flight: int = 256,
        temperature: float | str | None = 0.0,
        max_gen_toks: int = 256,
        cache: bool = True,
        max_usd: float | None = None,
        max_tokens: int | None = None,
        prices: str | None = None,
        **ignored: Any,
    ) -> None:
        super().__init__()
        unknown = ignored.keys() - {"batch_size", "max_batch_size", "device"}
        if unknown:
            raise TypeError(f"The model evalsi has no argument {sorted(unknown)[0]!r}. Its README lists the arguments.")
        given = {
            "model": str(model),
            "provider": provider,
            "base_url": base_url,
            "api_key_env": api_key_env,
            "effort": effort,
            "timeout_s": timeout_s,
            "max_in_flight": max_in_flight,
        }
        self._model = {name: value for name, value in given.items() if value is not None}
        is_open = temperature is None or str(temperature).lower() == "none"
        self._temperature = None if is_open else float(temperature)  # type: ignore[arg-type] # None is open
        self._max_gen_toks = max_gen_toks
        self._cache = cache
        self._prices = prices
        self._left = {name: left for name, left in (("usd", max_usd), ("tokens", max_tokens)) if left is not None}
        self._taken: dict[str, float] = {"requests": 0, "cached": 0}
        self._costs: list[float | None] = []

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        """Return the answers to the requests of all tasks, which are asked together.

        Raises:
            NoAnswers: a request was not answered. The other answers are in the cache.
            CannotGenerate: a task has a setting that cannot be sent.
        """
        seen: Counter[str] = Counter()
        questions = [self._question(request.args[0], request.args[1], seen) for request in requests]
        found = evalsi.complete(questions, self._model, cache=self._cache, budget=self._left, prices=self._prices)
        answers = []
        for request, one in zip(requests, self._booked(found), strict=True):
            answer = until_stop(one.text, request.args[1].get("until"))
            self.cache_hook.add_partial(GENERATES, request.args, answer)
            answers.append(answer)
        return answers

    def loglikelihood(self, requests: Sequence[Any], disable_tqdm: bool = False) -> NoReturn:
        """Raise `NoLikelihood`."""
        raise no_likelihood(requests)

    def loglikelihood_rolling(self, requests: Sequence[Any], disable_tqdm: bool = False) -> NoReturn:
        """Raise `NoLikelihood`."""
        raise no_likelihood(requests)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Return the messages as they are: the provider applies the model's template."""
        return ChatPrompt(json.dumps(chat_history, ensure_ascii=False))

    @property
    def tokenizer_name(self) -> str:
        """Return a name that separates this model's prompts from other models' in the harness's own cache."""
        return f"{NAME}:{self._model['provider']}:{self._model['model']}"

    def get_model_info(self) -> dict[str, Any]:
        """Return what the harness writes into its results: the model, the number of requests and their cost."""
        cost_usd = None if None in self._costs else sum(cost or 0.0 for cost in self._costs)
        model = {name: self._model.get(name) for name in ("provider", "model", "base_url")}
        return {"evalsi": {**model, **self._taken, "cost_usd": cost_usd}}

    def _question(self, prompt: str, settings: dict[str, Any], seen: Counter[str]) -> evalsi.Question:
        # Repeats of a request get different answers within a run, and the same answers when the run is repeated.
        known = json.dumps([prompt, settings], sort_keys=True, default=str)
        seen[known] += 1
        return question_of(
            prompt,
            settings,
            max_gen_toks=self._max_gen_toks,
            temperature=self._temperature,
            sample=seen[known] - 1,
        )

    def _booked(self, found: Sequence[evalsi.Completion | evalsi.AskError]) -> list[evalsi.Completion]:
        """Return the answers and subtract their usage from the budget.

        Raises:
            NoAnswers: a request failed; a failure is never an empty answer.
        """
        answered = [one for one in found if isinstance(one, evalsi.Completion)]
        self._taken["requests"] += len(found)
        self._taken["cached"] += sum(one.cached for one in answered)
        self._costs += [one.cost_usd for one in answered]
        took = {"usd": sum(one.cost_usd or 0.0 for one in answered), "tokens": sum(one.tokens or 0 for one in answered)}
        self._left = {name: max(0, left - took[name]) for name, left in self._left.items()}
        failed = [one for one in found if isinstance(one, evalsi.AskError)]
        if failed:
            kept = (
                " What was answered is in the cache: remove the cause and run the same command again."
                if self._cache
                else ""
            )
            raise NoAnswers(f"{len(failed):,} of {len(found):,} requests were not answered: {failed[0]}.{kept}")
        return answered


def no_likelihood(requests: Sequence[Any] = (), tasks: Sequence[str] = ()) -> NoLikelihood:
    """Return the error for tasks that need log-likelihoods, with their names."""
    names = sorted({*tasks, *(request.task_name for request in requests if request.task_name)})
    return NoLikelihood(_NO_LIKELIHOOD.format(what=", ".join(names) or "the task"))
